//! Resources that are asked, not stored: who am I, whose token is this, may somebody do that, give me a token.
//!
//! A review is answered with the object that was sent and a status. It changes nothing. Mirrors upstream's
//! `authentication.k8s.io`, `authorization.k8s.io` and the `serviceaccounts/token` subresource.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::access::{Attributes, Authorizer, User};
use crate::authn::{Error as TokenError, Request, Tokens};
use crate::authz::rbac::{Rbac, missing_roles};
use crate::options::Clock;
use crate::status::{Cause, Status};
use crate::token::{ISSUER, Kind, ObjectRef};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// Shorter tokens would be renewed all the time.
const SHORTEST: i64 = 600;
const USUAL: i64 = 3600;
const LONGEST: i64 = 1 << 32;

/// What a create request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// API group, empty for core.
    pub group: &'a str,
    /// Plural name.
    pub resource: &'a str,
    /// Empty for the resource itself.
    pub subresource: &'a str,
    /// Empty for cluster scope.
    pub namespace: &'a str,
    /// Empty for collections.
    pub name: &'a str,
}

/// Answers reviews.
pub struct Reviews {
    tokens: Arc<Tokens>,
    rbac: Arc<Rbac>,
    clock: Arc<dyn Clock>,
}

type Answer = Result<Value, Box<Status>>;

impl Reviews {
    /// Reviews about these tokens and these rights.
    #[must_use]
    pub fn new(tokens: Arc<Tokens>, rbac: Arc<Rbac>, clock: Arc<dyn Clock>) -> Self {
        Self { tokens, rbac, clock }
    }

    /// Whether creating this is a review.
    #[must_use]
    pub fn is_review(target: &Target<'_>) -> bool {
        kind(target).is_some()
    }

    /// The answer (to be sent with 201) for `user`, who was already allowed to ask; none if it is no review.
    ///
    /// # Errors
    /// Inside: the status to refuse with.
    pub fn answer(&self, user: &User, target: &Target<'_>, body: &Value) -> Option<Answer> {
        let kind = kind(target)?;
        let sent = text(body, "/kind");
        if !sent.is_empty() && sent != kind {
            let why = format!(
                "{sent} in version {:?} cannot be handled as a {kind}",
                text(body, "/apiVersion")
            );
            return Some(refuse(Status::bad_request(why)));
        }
        let answer = match (target.group, target.resource, target.subresource) {
            ("", "serviceaccounts", "token") => self.token_request(target, body),
            (AUTHENTICATION, "tokenreviews", "") => self.token_review(body),
            (AUTHENTICATION, "selfsubjectreviews", "") => Ok(self.self_subject_review(user)),
            (AUTHORIZATION, "subjectaccessreviews", "") => self.access_review(None, "", "SubjectAccessReview", body),
            (AUTHORIZATION, "selfsubjectaccessreviews", "") => {
                self.access_review(Some(user), "", "SelfSubjectAccessReview", body)
            }
            (AUTHORIZATION, "localsubjectaccessreviews", "") => {
                self.access_review(None, target.namespace, "LocalSubjectAccessReview", body)
            }
            (AUTHORIZATION, "selfsubjectrulesreviews", "") => self.rules_review(user, body),
            _ => return None,
        };
        Some(answer)
    }

    fn self_subject_review(&self, user: &User) -> Value {
        json!({
            "apiVersion": format!("{AUTHENTICATION}/v1"),
            "kind": "SelfSubjectReview",
            "metadata": {"creationTimestamp": time(self.clock.now().as_second())},
            "status": {"userInfo": user_info(user)},
        })
    }

    fn token_review(&self, body: &Value) -> Answer {
        let token = text(body, "/spec/token");
        if token.is_empty() {
            return refuse(Status::bad_request(
                "token is required for TokenReview in authentication",
            ));
        }
        let audiences = texts(body, "/spec/audiences");
        let status = match self.tokens.verify(token, Some(&audiences)) {
            Ok(verified) => json!({
                "authenticated": true, "user": user_info(&verified.user), "audiences": verified.audiences,
            }),
            // A text that is no token at all is not this authenticator's business.
            Err(TokenError::Verify(_)) => json!({"user": {}, "error": "invalid bearer token"}),
            Err(error @ TokenError::Audience { .. }) => {
                json!({"user": {}, "error": format!("[invalid bearer token, {error}]")})
            }
            Err(error) => json!({"user": {}, "error": format!("invalid bearer token, {error}")}),
        };
        Ok(answered(body, AUTHENTICATION, "TokenReview", status))
    }

    fn access_review(&self, caller: Option<&User>, namespace: &str, kind: &str, body: &Value) -> Answer {
        let spec = body.get("spec").cloned().unwrap_or_default();
        let user = match caller {
            Some(user) => user.clone(),
            None => User {
                name: text(&spec, "/user").to_owned(),
                uid: text(&spec, "/uid").to_owned(),
                groups: texts(&spec, "/groups"),
                ..User::default()
            },
        };
        let mut causes = Vec::new();
        let present = |field: &str| spec.get(field).is_some_and(|value| !value.is_null());
        let (resource, path) = (present("resourceAttributes"), present("nonResourceAttributes"));
        if resource && path {
            let why = "Invalid value: cannot be specified in combination with resourceAttributes";
            causes.push(Cause::new("FieldValueInvalid", "spec.nonResourceAttributes", why));
        }
        if !resource && !path {
            let why = "Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified";
            causes.push(Cause::new("FieldValueInvalid", "spec.resourceAttributes", why));
        }
        if user.name.is_empty() && user.groups.is_empty() {
            let why = "Invalid value: \"\": at least one of user or group must be specified";
            causes.push(Cause::new("FieldValueInvalid", "spec.user", why));
        }
        if has_metadata(body) {
            causes.push(Cause::new(
                "FieldValueInvalid",
                "metadata",
                "Invalid value: must be empty",
            ));
        }
        if !namespace.is_empty() {
            let asked = text(&spec, "/resourceAttributes/namespace");
            if resource && asked != namespace {
                let why = format!("Invalid value: {asked:?}: must match metadata.namespace");
                causes.push(Cause::new(
                    "FieldValueInvalid",
                    "spec.resourceAttributes.namespace",
                    why,
                ));
            }
            if path {
                let why = "Invalid value: disallowed on this kind of request";
                causes.push(Cause::new("FieldValueInvalid", "spec.nonResourceAttributes", why));
            }
        }
        if !causes.is_empty() {
            return refuse(Status::invalid(AUTHORIZATION, "", "", causes));
        }
        let decision = self.rbac.authorize(&user, &attributes(&spec));
        let mut status = json!({"allowed": decision.allowed});
        if !decision.reason.is_empty() {
            status["reason"] = decision.reason.into();
        }
        Ok(answered(body, AUTHORIZATION, kind, status))
    }

    fn rules_review(&self, user: &User, body: &Value) -> Answer {
        let namespace = text(body, "/spec/namespace");
        if namespace.is_empty() {
            return refuse(Status::bad_request("no namespace on request"));
        }
        let grants = self.rbac.grants(user, namespace);
        let rules = grants.iter().filter_map(|grant| grant.rules.as_deref()).flatten();
        let (paths, resources): (Vec<_>, Vec<_>) = rules.partition(|rule| !rule.non_resource_urls.is_empty());
        let shown =
            |rules: Vec<&super::rule::Rule>| rules.into_iter().map(super::rule::Rule::to_value).collect::<Value>();
        let mut status = json!({
            "resourceRules": shown(resources), "nonResourceRules": shown(paths), "incomplete": false,
        });
        let errors = missing_roles(&grants);
        match errors.as_slice() {
            [] => {}
            [one] => status["evaluationError"] = one.as_str().into(),
            many => status["evaluationError"] = format!("[{}]", many.join(", ")).into(),
        }
        // The reference answers with an empty spec.
        let mut answer = answered(body, AUTHORIZATION, "SelfSubjectRulesReview", status);
        answer["spec"] = json!({});
        Ok(answer)
    }

    fn token_request(&self, target: &Target<'_>, body: &Value) -> Answer {
        let account = self.core("serviceaccounts", target.namespace, target.name)?;
        for (field, wanted) in [("name", target.name), ("namespace", target.namespace)] {
            let sent = text(body, &format!("/metadata/{field}"));
            if !sent.is_empty() && sent != wanted {
                let why = format!("Invalid value: {sent:?}: must match the service account {field} if specified");
                let cause = Cause::new("FieldValueInvalid", format!("metadata.{field}"), why);
                return refuse(Status::invalid(
                    AUTHENTICATION,
                    "TokenRequest",
                    target.name,
                    vec![cause],
                ));
            }
        }
        let seconds = match body.pointer("/spec/expirationSeconds") {
            None | Some(Value::Null) => USUAL,
            Some(value) => value.as_i64().unwrap_or_default(),
        };
        let limit = if seconds < SHORTEST {
            Some("may not specify a duration less than 10 minutes")
        } else if seconds > LONGEST {
            Some("may not specify a duration larger than 2^32 seconds")
        } else {
            None
        };
        if let Some(limit) = limit {
            let cause = Cause::new(
                "FieldValueInvalid",
                "spec.expirationSeconds",
                format!("Invalid value: {seconds}: {limit}"),
            );
            return refuse(Status::invalid(AUTHENTICATION, "TokenRequest", "", vec![cause]));
        }
        let mut audiences = texts(body, "/spec/audiences");
        if audiences.is_empty() {
            audiences = vec![ISSUER.to_owned()];
        }
        let reference = body
            .pointer("/spec/boundObjectRef")
            .filter(|reference| !reference.is_null());
        let object = reference
            .map(|reference| self.bound_object(target, reference))
            .transpose()?;
        let uid = text(&account, "/metadata/uid");
        let request = Request {
            namespace: target.namespace,
            account: ObjectRef {
                name: target.name.to_owned(),
                uid: uid.to_owned(),
            },
            audiences: audiences.clone(),
            seconds,
            object,
        };
        let (token, expires) = self
            .tokens
            .issue(request)
            .map_err(|error| Box::new(Status::internal(error)))?;
        Ok(json!({
            "apiVersion": format!("{AUTHENTICATION}/v1"),
            "kind": "TokenRequest",
            "metadata": {
                "name": target.name, "namespace": target.namespace, "uid": uid,
                "creationTimestamp": time(self.clock.now().as_second()),
            },
            "spec": {
                "audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": reference,
            },
            "status": {"token": token, "expirationTimestamp": time(expires)},
        }))
    }

    fn bound_object(&self, target: &Target<'_>, reference: &Value) -> Result<(Kind, ObjectRef), Box<Status>> {
        let (kind_name, name) = (text(reference, "/kind"), text(reference, "/name"));
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.kind() == kind_name)
            .ok_or_else(|| {
                Box::new(Status::bad_request(format!(
                    "cannot bind token to object of type {kind_name:?}"
                )))
            })?;
        let object = match kind {
            Kind::Pod => self.core("pods", target.namespace, name)?,
            Kind::Secret => self.core("secrets", target.namespace, name)?,
            Kind::Node => self.core("nodes", "", name)?,
        };
        if kind == Kind::Pod && text(&object, "/spec/serviceAccountName") != target.name {
            return Err(Box::new(Status::bad_request(format!(
                "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
                target.name
            ))));
        }
        let uid = text(&object, "/metadata/uid");
        let wanted = text(reference, "/uid");
        if !wanted.is_empty() && wanted != uid {
            let why = format!(
                "the UID in the bound object reference ({wanted}) does not match the UID in record. The object might have been deleted and then recreated"
            );
            return Err(Box::new(Status::conflict("", kind.kind(), name, &why)));
        }
        Ok((
            kind,
            ObjectRef {
                name: name.to_owned(),
                uid: uid.to_owned(),
            },
        ))
    }

    fn core(&self, resource: &str, namespace: &str, name: &str) -> Answer {
        self.tokens
            .object(resource, namespace, name)
            .map_err(|error| Box::new(Status::internal(error)))?
            .ok_or_else(|| Box::new(Status::not_found("", resource, name)))
    }
}

/// Seconds since 1970 in the API's form.
fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

impl std::fmt::Debug for Reviews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

/// The kind of a review.
fn kind(target: &Target<'_>) -> Option<&'static str> {
    let kind = match (target.group, target.resource, target.subresource) {
        ("", "serviceaccounts", "token") => "TokenRequest",
        (AUTHENTICATION, "tokenreviews", "") => "TokenReview",
        (AUTHENTICATION, "selfsubjectreviews", "") => "SelfSubjectReview",
        (AUTHORIZATION, "subjectaccessreviews", "") => "SubjectAccessReview",
        (AUTHORIZATION, "selfsubjectaccessreviews", "") => "SelfSubjectAccessReview",
        (AUTHORIZATION, "localsubjectaccessreviews", "") => "LocalSubjectAccessReview",
        (AUTHORIZATION, "selfsubjectrulesreviews", "") => "SelfSubjectRulesReview",
        _ => return None,
    };
    Some(kind)
}

fn refuse(status: Status) -> Answer {
    Err(Box::new(status))
}

/// Whether a review has metadata besides its namespace and what the server adds.
fn has_metadata(body: &Value) -> bool {
    let metadata = body.get("metadata").and_then(Value::as_object);
    metadata.into_iter().flatten().any(|(field, value)| {
        let empty = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        !empty && !matches!(field.as_str(), "namespace" | "managedFields" | "creationTimestamp")
    })
}

/// What was sent, with a status.
fn answered(body: &Value, group: &str, kind: &str, status: Value) -> Value {
    let mut answer = body.as_object().cloned().unwrap_or_else(Map::new);
    answer.insert("apiVersion".to_owned(), format!("{group}/v1").into());
    answer.insert("kind".to_owned(), kind.into());
    answer.entry("metadata").or_insert_with(|| json!({}));
    answer.entry("spec").or_insert_with(|| json!({}));
    answer.insert("status".to_owned(), status);
    Value::Object(answer)
}

fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name});
    if !user.uid.is_empty() {
        info["uid"] = user.uid.as_str().into();
    }
    if !user.groups.is_empty() {
        info["groups"] = json!(user.groups);
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

fn attributes(spec: &Value) -> Attributes {
    let field = |name: &str| text(spec, &format!("/resourceAttributes/{name}")).to_owned();
    if spec.get("resourceAttributes").is_none_or(Value::is_null) {
        return Attributes {
            verb: text(spec, "/nonResourceAttributes/verb").to_owned(),
            path: text(spec, "/nonResourceAttributes/path").to_owned(),
            ..Attributes::default()
        };
    }
    Attributes {
        verb: field("verb"),
        group: field("group"),
        version: field("version"),
        resource: field("resource"),
        subresource: field("subresource"),
        namespace: field("namespace"),
        name: field("name"),
        path: String::new(),
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    let list = value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
