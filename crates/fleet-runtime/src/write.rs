//! Writes that write nothing when nothing changes: the difference between what is stored and
//! what is wanted decides whether there is a request at all, and is the request's body.

use std::fmt::Debug;

use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::{Error, ResultExt};

/// What a write came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Written<K> {
    /// There was none.
    Created(K),
    /// It was different.
    Changed(K),
    /// It was as wanted; no request was made.
    Same,
}

impl<K> Written<K> {
    /// The object as stored, if there was a request.
    #[must_use]
    pub fn object(self) -> Option<K> {
        match self {
            Self::Created(object) | Self::Changed(object) => Some(object),
            Self::Same => None,
        }
    }

    /// A request was made.
    #[must_use]
    pub fn wrote(&self) -> bool {
        !matches!(self, Self::Same)
    }
}

/// Bound of what these functions write.
pub trait Object:
    kube::Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}
impl<K> Object for K where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// `secret 'ns/name'`, for error messages.
#[must_use]
pub fn describe<K: kube::Resource<DynamicType = ()>>(object: &K) -> String {
    format!("{} '{}'", K::kind(&()).to_lowercase(), crate::mirror::Key::of(object))
}

/// The merge patch (RFC 7386) that turns `from` into `to`; `None` if they are equal.
/// Absent and `null` are the same.
#[must_use]
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let mut patch = Map::new();
            for (key, old) in from {
                if !old.is_null() && to.get(key).is_none_or(Value::is_null) {
                    patch.insert(key.clone(), Value::Null);
                }
            }
            for (key, new) in to {
                match from.get(key).filter(|old| !old.is_null()) {
                    Some(old) => {
                        if let Some(change) = difference(old, new) {
                            patch.insert(key.clone(), change);
                        }
                    }
                    None if !new.is_null() => {
                        patch.insert(key.clone(), new.clone());
                    }
                    None => {}
                }
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        _ if from == to => None,
        _ => Some(to.clone()),
    }
}

/// What has to be sent so that `live` becomes `want`: every top-level field of `want` except
/// `status` completely; of the metadata only the labels, annotations, owner references and
/// finalizers that `want` names (further labels and annotations of others stay).
fn change(live: &Value, want: &Value) -> Option<Value> {
    let mut patch = Map::new();
    for (key, wanted) in want.as_object()? {
        match key.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => {
                let mut meta = Map::new();
                for part in ["labels", "annotations", "ownerReferences", "finalizers"] {
                    let Some(wanted) = wanted.get(part) else { continue };
                    let old = live.get("metadata").and_then(|m| m.get(part)).unwrap_or(&Value::Null);
                    if let Some(change) = additions(old, wanted) {
                        meta.insert(part.to_owned(), change);
                    }
                }
                if !meta.is_empty() {
                    patch.insert(key.clone(), Value::Object(meta));
                }
            }
            _ => {
                let empty = Value::Null;
                if let Some(change) = difference(live.get(key).unwrap_or(&empty), wanted) {
                    patch.insert(key.clone(), change);
                }
            }
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn additions(old: &Value, wanted: &Value) -> Option<Value> {
    let Some(wanted_map) = wanted.as_object() else {
        return (old != wanted).then(|| wanted.clone());
    };
    let patch: Map<String, Value> = wanted_map
        .iter()
        .filter(|(key, value)| match old.get(*key) {
            None => !value.is_null(),
            Some(old) => old != *value,
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Makes the stored object what is wanted. `live` is what is known of it; a create that meets an
/// existing object, or a patch of one that is gone, looks again once.
///
/// A label or annotation that has to go is passed as JSON `null`, which typed objects cannot
/// hold: use [`patch`] for that.
///
/// # Errors
/// The server's refusal; a conflict if `live` was out of date.
pub async fn ensure<K: Object>(api: &Api<K>, live: Option<&K>, want: &K) -> Result<Written<K>, Error> {
    if let Some(live) = live {
        match update(api, live, want).await {
            Err(error) if error.is_not_found() => {}
            other => return other,
        }
    }
    match api
        .create(&PostParams::default(), want)
        .await
        .doing("create", || describe(want))
    {
        Ok(object) => Ok(Written::Created(object)),
        Err(error) if error.is_already_exists() => {
            let name = want.meta().name.as_deref().unwrap_or_default();
            let live = api.get(name).await.doing("get", || describe(want))?;
            update(api, &live, want).await
        }
        Err(error) => Err(error),
    }
}

async fn update<K: Object>(api: &Api<K>, live: &K, want: &K) -> Result<Written<K>, Error> {
    let (live_json, want_json) = (as_json(live)?, as_json(want)?);
    let Some(mut body) = change(&live_json, &want_json) else {
        return Ok(Written::Same);
    };
    if let Some(version) = &live.meta().resource_version {
        body["metadata"]["resourceVersion"] = json!(version);
    }
    patch(api, want.meta().name.as_deref().unwrap_or_default(), &body)
        .await
        .map(Written::Changed)
}

/// Reads an object; `None` if it (or its namespace) does not exist.
///
/// # Errors
/// The server's refusal.
pub async fn find<K: Object>(api: &Api<K>, name: &str) -> Result<Option<K>, Error> {
    api.get_opt(name)
        .await
        .doing("get", || format!("{} '{name}'", K::kind(&()).to_lowercase()))
}

/// Sends a merge patch as it is.
///
/// # Errors
/// The server's refusal.
pub async fn patch<K: Object>(api: &Api<K>, name: &str, body: &Value) -> Result<K, Error> {
    api.patch(name, &PatchParams::default(), &Patch::Merge(body))
        .await
        .doing("patch", || format!("{} '{name}'", K::kind(&()).to_lowercase()))
}

/// Server-side apply of `want`, taking over conflicting fields. Writes always; use it where the
/// server must merge with other writers, and compare first.
///
/// # Errors
/// The server's refusal.
pub async fn apply<K: Object>(api: &Api<K>, manager: &str, want: &K) -> Result<K, Error> {
    let name = want.meta().name.as_deref().unwrap_or_default();
    api.patch(name, &PatchParams::apply(manager).force(), &Patch::Apply(want))
        .await
        .doing("apply", || describe(want))
}

/// Writes the fields in which two statuses differ through the status subresource, whatever the
/// object's version. `None` if they are equal or the object is gone. Lists are replaced whole:
/// where another writer shares one, use [`status_at`].
///
/// # Errors
/// The server's refusal.
pub async fn status<K: Object, S: Serialize>(
    api: &Api<K>,
    object: &K,
    old: Option<&S>,
    new: &S,
) -> Result<Option<K>, Error> {
    let Some(patch) = changes(old, new)? else {
        return Ok(None);
    };
    status_patch(api, object, &json!({ "status": patch })).await
}

/// The same, refused as a conflict if the object is not `object`'s version any more.
///
/// # Errors
/// The server's refusal.
pub async fn status_at<K: Object, S: Serialize>(
    api: &Api<K>,
    object: &K,
    old: Option<&S>,
    new: &S,
) -> Result<Option<K>, Error> {
    let Some(patch) = changes(old, new)? else {
        return Ok(None);
    };
    let version = object.meta().resource_version.as_deref();
    status_patch(
        api,
        object,
        &json!({ "metadata": { "resourceVersion": version }, "status": patch }),
    )
    .await
}

/// Writes a status where there is none, nulls included (a merge patch cannot say them). Refused as
/// a conflict if the object is not `object`'s version any more; `None` if it is gone.
///
/// # Errors
/// The server's refusal.
pub async fn status_first<K: Object, S: Serialize>(api: &Api<K>, object: &K, new: &S) -> Result<Option<K>, Error> {
    let name = object.meta().name.as_deref().unwrap_or_default();
    let version = object.meta().resource_version.as_deref();
    let operations = json!([
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/status", "value": as_json(new)?},
    ]);
    let operations = serde_json::from_value(operations)
        .map_err(|error| Error::new("encode", describe(object), error.to_string()))?;
    api.patch_status(name, &PatchParams::default(), &Patch::<K>::Json(operations))
        .await
        .unless_missing("write status of", || describe(object))
}

/// Sends a merge patch to the status subresource. `None` if the object is gone.
///
/// # Errors
/// The server's refusal.
pub async fn status_patch<K: Object>(api: &Api<K>, object: &K, body: &Value) -> Result<Option<K>, Error> {
    let name = object.meta().name.as_deref().unwrap_or_default();
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(body))
        .await
        .unless_missing("patch status of", || describe(object))
}

/// Deletes an object in the background, if it is still the one with this uid. A missing one is fine.
///
/// # Errors
/// The server's refusal.
pub async fn delete<K: Object>(api: &Api<K>, object: &K) -> Result<(), Error> {
    let mut params = DeleteParams::background();
    if let Some(uid) = &object.meta().uid {
        params.preconditions = Some(Preconditions {
            uid: Some(uid.clone()),
            resource_version: None,
        });
    }
    let name = object.meta().name.as_deref().unwrap_or_default();
    match api.delete(name, &params).await.doing("delete", || describe(object)) {
        Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error),
        _ => Ok(()),
    }
}

/// The merge patch between two statuses; `None` if they are equal.
fn changes<S: Serialize>(old: Option<&S>, new: &S) -> Result<Option<Value>, Error> {
    let old = old.map(as_json).transpose()?.unwrap_or(Value::Null);
    Ok(difference(&old, &as_json(new)?))
}

fn as_json<T: Serialize>(value: &T) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|error| Error::new("encode", "object", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_removes_adds_and_replaces() {
        let from = json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1], "n": null});
        let to = json!({"b": {"c": 1, "d": 3}, "e": [2], "f": {}});
        assert_eq!(
            difference(&from, &to),
            Some(json!({"a": null, "b": {"d": 3}, "e": [2], "f": {}}))
        );
        assert_eq!(difference(&from, &from), None);
        assert_eq!(difference(&json!({"a": null}), &json!({})), None);
    }

    #[test]
    fn foreign_labels_stay_and_sections_are_complete() {
        let live =
            json!({"metadata": {"labels": {"x": "1", "y": "2"}}, "data": {"k": "v", "old": "v"}, "status": {"a": 1}});
        let want = json!({"metadata": {"labels": {"x": "1", "z": "3"}}, "data": {"k": "w"}, "status": {"a": 2}});
        assert_eq!(
            change(&live, &want),
            Some(json!({"metadata": {"labels": {"z": "3"}}, "data": {"k": "w", "old": null}}))
        );
        assert_eq!(change(&live, &json!({"metadata": {"labels": {"x": "1"}}})), None);
    }
}
