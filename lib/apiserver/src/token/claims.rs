//! What a token says.

use serde_json::{Map, Value, json};

use crate::token::{Error, ISSUER, LEGACY_ISSUER};

/// An object by name and uid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectRef {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// The facts of a token from TokenRequest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bound {
    /// For whom it is.
    pub audiences: Vec<String>,
    /// Seconds since 1970.
    pub issued: i64,
    /// Seconds since 1970.
    pub expires: i64,
    /// Its own id.
    pub id: String,
    /// The pod, secret or node it lives with: kind in lower case, and which.
    pub object: Option<(Kind, ObjectRef)>,
}

/// Kinds a token can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// v1 Pod, in the account's namespace.
    Pod,
    /// v1 Secret, in the account's namespace.
    Secret,
    /// v1 Node.
    Node,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 3] = [Kind::Pod, Kind::Secret, Kind::Node];

    /// The name in claims.
    #[must_use]
    pub fn claim(self) -> &'static str {
        match self {
            Kind::Pod => "pod",
            Kind::Secret => "secret",
            Kind::Node => "node",
        }
    }

    /// The kind as an API object.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Kind::Pod => "Pod",
            Kind::Secret => "Secret",
            Kind::Node => "Node",
        }
    }
}

/// What distinguishes the two shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Kept in the secret of this name, until that secret is deleted.
    Legacy(String),
    /// From TokenRequest.
    Bound(Bound),
}

/// What a token says about its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The account's namespace.
    pub namespace: String,
    /// The account.
    pub account: ObjectRef,
    /// The rest.
    pub shape: Shape,
}

impl Claims {
    /// `system:serviceaccount:NAMESPACE:NAME`.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.account.name)
    }

    /// The claims as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.shape {
            Shape::Legacy(secret) => json!({
                "iss": LEGACY_ISSUER,
                "sub": self.subject(),
                "kubernetes.io/serviceaccount/namespace": self.namespace,
                "kubernetes.io/serviceaccount/secret.name": secret,
                "kubernetes.io/serviceaccount/service-account.name": self.account.name,
                "kubernetes.io/serviceaccount/service-account.uid": self.account.uid,
            }),
            Shape::Bound(bound) => {
                let mut own = json!({
                    "namespace": self.namespace,
                    "serviceaccount": {"name": self.account.name, "uid": self.account.uid},
                });
                if let Some((kind, object)) = &bound.object {
                    own[kind.claim()] = json!({"name": object.name, "uid": object.uid});
                }
                json!({
                    "aud": bound.audiences, "exp": bound.expires, "iat": bound.issued, "nbf": bound.issued,
                    "iss": ISSUER, "jti": bound.id, "sub": self.subject(), "kubernetes.io": own,
                })
            }
        }
    }

    /// Reads claims that [`Claims::to_value`] made.
    ///
    /// # Errors
    /// [`Error::Malformed`] if anything is missing or of another type.
    pub fn from_value(value: &Value) -> Result<Claims, Error> {
        let object = value.as_object().ok_or(Error::Malformed)?;
        let claims = match text(object, "iss")? {
            LEGACY_ISSUER => legacy(object)?,
            ISSUER => bound(object)?,
            _ => return Err(Error::Malformed),
        };
        if text(object, "sub")? == claims.subject() {
            Ok(claims)
        } else {
            Err(Error::Malformed)
        }
    }
}

fn legacy(object: &Map<String, Value>) -> Result<Claims, Error> {
    let own = |name: &str| text(object, &format!("kubernetes.io/serviceaccount/{name}")).map(str::to_owned);
    Ok(Claims {
        namespace: own("namespace")?,
        account: ObjectRef {
            name: own("service-account.name")?,
            uid: own("service-account.uid")?,
        },
        shape: Shape::Legacy(own("secret.name")?),
    })
}

fn bound(object: &Map<String, Value>) -> Result<Claims, Error> {
    let own = object
        .get("kubernetes.io")
        .and_then(Value::as_object)
        .ok_or(Error::Malformed)?;
    let reference = |name: &str| -> Result<Option<ObjectRef>, Error> {
        let Some(value) = own.get(name) else { return Ok(None) };
        let value = value.as_object().ok_or(Error::Malformed)?;
        Ok(Some(ObjectRef {
            name: text(value, "name")?.to_owned(),
            uid: text(value, "uid")?.to_owned(),
        }))
    };
    let mut object_ref = None;
    for kind in Kind::ALL {
        if let Some(found) = reference(kind.claim())? {
            object_ref = Some((kind, found));
            break;
        }
    }
    let audiences = match object.get("aud") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many
            .iter()
            .map(|one| one.as_str().map(str::to_owned).ok_or(Error::Malformed))
            .collect::<Result<_, _>>()?,
        _ => return Err(Error::Malformed),
    };
    let number = |name: &str| object.get(name).and_then(Value::as_i64).ok_or(Error::Malformed);
    Ok(Claims {
        namespace: text(own, "namespace")?.to_owned(),
        account: reference("serviceaccount")?.ok_or(Error::Malformed)?,
        shape: Shape::Bound(Bound {
            audiences,
            issued: number("nbf")?,
            expires: number("exp")?,
            id: text(object, "jti")?.to_owned(),
            object: object_ref,
        }),
    })
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, Error> {
    object.get(name).and_then(Value::as_str).ok_or(Error::Malformed)
}
