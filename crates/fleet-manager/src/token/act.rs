//! Writes a token's objects: account, rights, request for its token, values; in this order.

use std::time::Duration;

use fleet_api::{ClusterRegistrationToken, ClusterRegistrationTokenStatus};
use fleet_runtime::write::{self, ensure};
use fleet_runtime::{Action, Context, Error};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};

use super::decide::{Objects, Plan};
use super::observe::Facts;
use crate::account::{self, Token};
use crate::shell::namespace;

/// Time until a token that was asked for is looked for again.
const TOKEN_WAIT: Duration = Duration::from_millis(300);

/// What came of it.
#[derive(Debug)]
pub(super) enum Done {
    /// Nothing was to be done.
    Left,
    /// The token was deleted; its objects follow by their owner references.
    Expired(Result<(), Error>),
    /// What exists now, and the first failure.
    Kept {
        status: ClusterRegistrationTokenStatus,
        action: Action,
        failure: Option<Error>,
    },
}

impl Done {
    pub(super) fn into_action(self) -> Result<Action, Error> {
        match self {
            Self::Left => Ok(Action::AwaitChange),
            Self::Expired(result) => result.map(|()| Action::AwaitChange),
            Self::Kept {
                failure: Some(error), ..
            } => Err(error),
            Self::Kept { action, .. } => Ok(action),
        }
    }
}

pub(super) async fn act(token: &ClusterRegistrationToken, plan: Plan, facts: &Facts, cx: &Context) -> Done {
    match plan {
        Plan::Leave => Done::Left,
        Plan::Delete => {
            let api = cx.namespaced::<ClusterRegistrationToken>(namespace(token));
            Done::Expired(write::delete(&api, token).await)
        }
        Plan::Keep(objects) => {
            let mut status = objects.status.clone();
            let action = objects.expires_in.map_or(Action::AwaitChange, Action::After);
            match keep(*objects, facts, cx).await {
                Ok(wait) => Done::Kept {
                    status,
                    action: action.sooner(wait),
                    failure: None,
                },
                Err(error) => {
                    status.secret_name = String::new();
                    Done::Kept {
                        status,
                        action,
                        failure: Some(error),
                    }
                }
            }
        }
    }
}

async fn keep(objects: Objects, facts: &Facts, cx: &Context) -> Result<Action, Error> {
    let Objects {
        account,
        role,
        binding,
        values,
        status: _,
        expires_in: _,
    } = objects;
    let space = namespace(&account).to_owned();
    let written = ensure(
        &cx.namespaced::<ServiceAccount>(&space),
        facts.account.as_ref(),
        &account,
    )
    .await?;
    ensure(&cx.namespaced::<Role>(&space), facts.role.as_ref(), &role).await?;
    ensure(&cx.namespaced::<RoleBinding>(&space), facts.binding.as_ref(), &binding).await?;
    if facts.token == Token::Unasked {
        // The stored account carries the uid that the secret's owner reference needs.
        let stored = written.object();
        if let Some(account) = stored.as_ref().or(facts.account.as_ref()) {
            account::ask(account, cx).await?;
        }
    }
    let Some(values) = values else {
        return Ok(Action::After(TOKEN_WAIT));
    };
    ensure(&cx.namespaced::<Secret>(&space), facts.values.as_ref(), &values).await?;
    Ok(Action::AwaitChange)
}
