//! Fills secrets of type `kubernetes.io/service-account-token` with the account's token, the server's CA and the
//! namespace; deletes those whose account is gone.
//!
//! Fleet's registration depends on it. Mirrors upstream's tokens controller.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::controllers::api::{Error, METADATA, OBJECT, optional};
use crate::controllers::feed::Change;
use crate::controllers::object::Meta;
use crate::controllers::reactor::{Context, Outcome, State, Work};
use crate::token::ObjectRef;

const NAME: &str = "kubernetes.io/service-account.name";
const UID: &str = "kubernetes.io/service-account.uid";
const TYPE: &str = "kubernetes.io/service-account-token";

pub(super) fn observe(state: &mut State, change: &Change, due: &mut Vec<Work>) {
    match change {
        Change::Present(resource, object) if resource.is_core("secrets") => {
            let meta = Meta(object);
            if let Some(account) = meta.annotation(NAME) {
                let key = (meta.namespace().into(), account.into());
                state.token_secrets.entry(key).or_default().insert(meta.name().into());
                due.push(Work::Token(meta.namespace().into(), meta.name().into()));
            }
        }
        Change::Gone(resource, object) if resource.is_core("secrets") => {
            let meta = Meta(object);
            if let Some(account) = meta.annotation(NAME) {
                let key = (meta.namespace().into(), account.into());
                if let Some(secrets) = state.token_secrets.get_mut(&key) {
                    secrets.remove(meta.name());
                    if secrets.is_empty() {
                        state.token_secrets.remove(&key);
                    }
                }
            }
        }
        Change::Gone(resource, object) if resource.is_core("serviceaccounts") => {
            let meta = Meta(object);
            let secrets = state.token_secrets.get(&(meta.namespace().into(), meta.name().into()));
            due.extend(
                secrets
                    .into_iter()
                    .flatten()
                    .map(|secret| Work::Token(meta.namespace().into(), secret.clone())),
            );
        }
        // Accounts may have gone unseen.
        Change::Listed(resource) if resource.is_core("serviceaccounts") => {
            for ((namespace, _), secrets) in &state.token_secrets {
                due.extend(
                    secrets
                        .iter()
                        .map(|secret| Work::Token(namespace.clone(), secret.clone())),
                );
            }
        }
        _ => {}
    }
}

pub(super) async fn fill(context: &Context, namespace: &str, name: &str) -> Result<Outcome, Error> {
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
    let Some(mut secret) = optional(context.api.get(&path, OBJECT).await)? else {
        return Ok(Outcome::Done);
    };
    let meta = Meta(&secret);
    let Some(account_name) = meta.annotation(NAME).map(str::to_owned) else {
        return Ok(Outcome::Done);
    };
    if secret.get("type").and_then(Value::as_str) != Some(TYPE) || meta.deleting() {
        return Ok(Outcome::Done);
    }
    let account = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account_name}");
    let account = optional(context.api.get(&account, METADATA).await)?;
    let uid = account
        .as_ref()
        .map(|account| Meta(account).uid().to_owned())
        .unwrap_or_default();
    let another = meta
        .annotation(UID)
        .is_some_and(|wanted| !wanted.is_empty() && wanted != uid);
    if uid.is_empty() || another {
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": meta.uid(), "resourceVersion": meta.resource_version()},
        });
        optional(context.api.delete(&path, &options).await)?;
        return Ok(Outcome::Done);
    }
    let held = |field: &str| {
        secret
            .pointer(&format!("/data/{field}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let token = if held("token").is_empty() {
        match context.tokens.issue_legacy(
            namespace,
            ObjectRef {
                name: account_name,
                uid: uid.clone(),
            },
            name,
        ) {
            Ok(token) => STANDARD.encode(token),
            Err(error) => {
                tracing::error!(error = %error, "cannot sign tokens");
                return Ok(Outcome::Done);
            }
        }
    } else {
        held("token").to_owned()
    };
    let data = [
        ("token", token),
        ("ca.crt", STANDARD.encode(&context.authority)),
        ("namespace", STANDARD.encode(namespace)),
    ];
    let complete = data.iter().all(|(field, value)| held(field) == value) && meta.annotation(UID).is_some();
    if complete {
        return Ok(Outcome::Done);
    }
    secret["metadata"]["annotations"][UID] = uid.into();
    if !secret.get("data").is_some_and(Value::is_object) {
        secret["data"] = json!({});
    }
    for (field, value) in data {
        secret["data"][field] = value.into();
    }
    optional(context.api.replace(&path, &secret).await)?;
    Ok(Outcome::Done)
}
