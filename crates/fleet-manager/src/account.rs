//! Long-lived tokens of service accounts: the secret that asks for one, and whether it is there.

use fleet_api::{labels, names};
use fleet_runtime::write::find;
use fleet_runtime::{Context, Error, ResultExt};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ObjectMeta, PostParams};

use crate::shell::{name, namespace, uid};

/// The token of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// No secret asks for one.
    Unasked,
    /// The secret exists and is still empty.
    Awaited,
    /// Here it is.
    Ready(String),
}

/// Looks for the token of an account.
pub(crate) async fn token(account: &ServiceAccount, cx: &Context) -> Result<Token, Error> {
    // Old clusters made a secret for every account and noted it there.
    let noted = account
        .secrets
        .iter()
        .flatten()
        .find_map(|reference| reference.name.clone());
    let secret = noted.unwrap_or_else(|| names::token_secret(name(account)));
    let Some(secret) = find(&cx.namespaced::<Secret>(namespace(account)), &secret).await? else {
        return Ok(Token::Unasked);
    };
    let bytes = secret
        .data
        .as_ref()
        .and_then(|data| data.get("token"))
        .map(|bytes| bytes.0.clone());
    Ok(match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) if !text.is_empty() => Token::Ready(text),
        _ => Token::Awaited,
    })
}

/// Asks for a token: the secret that the control plane fills. An existing one is left alone.
pub(crate) async fn ask(account: &ServiceAccount, cx: &Context) -> Result<(), Error> {
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(names::token_secret(name(account))),
            namespace: account.metadata.namespace.clone(),
            annotations: Some(
                [(
                    "kubernetes.io/service-account.name".to_owned(),
                    name(account).to_owned(),
                )]
                .into(),
            ),
            owner_references: Some(vec![OwnerReference {
                api_version: "v1".to_owned(),
                kind: "ServiceAccount".to_owned(),
                name: name(account).to_owned(),
                uid: uid(account).to_owned(),
                ..OwnerReference::default()
            }]),
            ..ObjectMeta::default()
        },
        type_: Some(labels::SECRET_SERVICE_ACCOUNT_TOKEN.to_owned()),
        ..Secret::default()
    };
    let api = cx.namespaced::<Secret>(namespace(account));
    match api
        .create(&PostParams::default(), &secret)
        .await
        .doing("create", || format!("token secret of '{}'", name(account)))
    {
        Err(error) if !error.is_already_exists() => Err(error),
        _ => Ok(()),
    }
}
