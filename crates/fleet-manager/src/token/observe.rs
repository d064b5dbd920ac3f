//! Reads what exists of a token's objects.

use std::sync::Arc;

use fleet_api::{ClusterRegistrationToken, names};
use fleet_runtime::Error;
use fleet_runtime::write::find;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};

use crate::account::{self, Token};
use crate::config::Config;
use crate::shell::{Shell, deleting, name, namespace, uid};

/// What exists.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) account: Option<ServiceAccount>,
    pub(super) token: Token,
    pub(super) role: Option<Role>,
    pub(super) binding: Option<RoleBinding>,
    pub(super) values: Option<Secret>,
    pub(super) config: Arc<Config>,
    pub(super) system_namespace: String,
    pub(super) registration_namespace: String,
    pub(super) ttl_required: bool,
}

pub(super) async fn observe(token: &ClusterRegistrationToken, shell: &Shell) -> Result<Facts, Error> {
    let cx = &shell.cx;
    let mut facts = Facts {
        account: None,
        token: Token::Unasked,
        role: None,
        binding: None,
        values: None,
        config: shell.config.borrow().clone(),
        system_namespace: shell.settings.namespace.clone(),
        registration_namespace: shell.settings.registration_namespace(),
        ttl_required: shell.settings.token_ttl_required,
    };
    if deleting(token) {
        return Ok(facts);
    }
    let space = namespace(token);
    let account_name = names::service_account(name(token), uid(token));
    facts.account = find(&cx.namespaced::<ServiceAccount>(space), &account_name).await?;
    if let Some(account) = &facts.account {
        facts.token = account::token(account, cx).await?;
    }
    facts.role = find(&cx.namespaced::<Role>(space), &names::token_role(&account_name)).await?;
    facts.binding = find(
        &cx.namespaced::<RoleBinding>(space),
        &names::token_role_binding(&account_name),
    )
    .await?;
    facts.values = find(&cx.namespaced::<Secret>(space), name(token)).await?;
    Ok(facts)
}
