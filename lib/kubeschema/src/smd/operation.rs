//! The two operations that keep owners: [`update`] for writes of any kind, [`apply`] for server-side apply.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::Error;
use super::compare::{Comparison, compare, equal};
use super::conflict::Conflict;
use super::fields::{field_set, validate};
use super::last_applied;
use super::manager::{Entry, Operation, asks_reset, cap, read_entries, write_entries};
use super::merge::merge;
use super::prune::prune;
use super::set::Set;
use crate::schema::{Type, encode};

/// Owner of what was there before managers were tracked.
const BEFORE: &str = "before-first-apply";

/// Who writes what kind of object.
pub struct Request<'a> {
    /// Type of the object in the version written.
    pub schema: &'a Type,
    /// Version written, as objects carry it.
    pub api_version: &'a str,
    /// Kind of the object.
    pub kind: &'a str,
    /// Name of the writer.
    pub manager: &'a str,
    /// Sub-resource written through; empty for the object itself.
    pub subresource: &'a str,
    /// Now, RFC 3339 in UTC with seconds; `None` for writes through `scale`, whose entries carry no time.
    pub now: Option<&'a str>,
    /// Fields this endpoint ignores in what it is sent (`status` on the object, `spec` on `…/status`).
    pub reset: Set,
    /// Types of the kind's other versions, for entries spelled in them; `None` for a version that is gone.
    pub versions: &'a dyn Fn(&str) -> Option<&'a Type>,
}

/// Fields nobody owns.
static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

/// After a create, replace, patch or status write: brings `new`'s managedFields up to date.
///
/// `live` is the stored object, `None` on create; `new` the object as it will be stored.
pub fn update(request: &Request<'_>, live: Option<&Value>, new: &mut Value) {
    let nothing = json!({});
    let before = live.unwrap_or(&nothing);
    let from_live = || read_entries(before).unwrap_or_default();
    let mut entries = if !request.subresource.is_empty() {
        from_live()
    } else if asks_reset(new) {
        Vec::new()
    } else {
        match read_entries(new) {
            Ok(entries) if !entries.is_empty() => entries,
            _ => from_live(),
        }
    };
    if entries.is_empty() && live.is_some() {
        // Nobody tracked this object so far; only an apply begins to.
        write_entries(new, Vec::new());
        return;
    }
    // What it said about its managers was read; the entries are written anew below.
    if let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    record(request, &bare(live, request), new, request.manager, &mut entries);
    cap(&mut entries);
    write_entries(new, entries);
}

/// Server-side apply: the object with the configuration merged in, what its manager no longer applies removed, and
/// managedFields brought up to date. It still needs decoding, defaulting and validation.
///
/// `live` is the stored object, `None` to create it.
///
/// # Errors
/// [`Error::Conflict`] unless `force` is set; [`Error::BadRequest`] and [`Error::Internal`] for configurations that do
/// not fit the request or the type.
pub fn apply(request: &Request<'_>, live: Option<&Value>, config: &Value, force: bool) -> Result<Value, Error> {
    match apply_once(request, live, config, force) {
        Err(Error::Conflict(conflicts)) if request.manager == last_applied::MANAGER => {
            let live_bare = bare(live, request);
            let own = last_applied::owned(request.schema, request.api_version, &live_bare);
            let foreign: Vec<Conflict> = conflicts.into_iter().filter(|c| !own.has(&c.path)).collect();
            if !foreign.is_empty() {
                return Err(Error::Conflict(foreign));
            }
            apply_once(request, live, config, true)
        }
        other => other,
    }
    .map(|mut object| {
        if request.manager == last_applied::MANAGER {
            last_applied::refresh(&mut object, config);
        }
        object
    })
}

fn apply_once(request: &Request<'_>, live: Option<&Value>, config: &Value, force: bool) -> Result<Value, Error> {
    let (group, version) = request.api_version.split_once('/').unwrap_or(("", request.api_version));
    let (sent_version, sent_kind) = (&config["apiVersion"], &config["kind"]);
    if sent_version != request.api_version || sent_kind != request.kind {
        let (group, version) = match sent_version.as_str().unwrap_or_default().split_once('/') {
            Some(parts) => parts,
            None => ("", sent_version.as_str().unwrap_or_default()),
        };
        let kind = sent_kind.as_str().unwrap_or_default();
        return Err(Error::BadRequest(format!(
            "invalid object type: {group}/{version}, Kind={kind}"
        )));
    }
    if config["metadata"]
        .get("managedFields")
        .is_some_and(|fields| !fields.is_null())
    {
        return Err(Error::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    let faults = validate(request.schema, config, false);
    if !faults.is_empty() {
        let faults = if let [one] = faults.as_slice() {
            one.clone()
        } else {
            format!(
                "errors:\n{}",
                faults.iter().map(|f| format!("  {f}")).collect::<Vec<_>>().join("\n")
            )
        };
        let part = |name: &str| config["metadata"][name].as_str().unwrap_or_default();
        return Err(Error::Internal(format!(
            "failed to create typed patch object ({}/{}; {group}/{version}, Kind={}): {faults}",
            part("namespace"),
            part("name"),
            request.kind
        )));
    }

    let older = bare(live, request);
    let mut entries = match live {
        Some(live) => {
            read_entries(live).map_err(|why| Error::Internal(format!("failed to decode managed fields: {why}")))?
        }
        None => Vec::new(),
    };
    if entries.is_empty() {
        record(request, &bare(None, request), &older, BEFORE, &mut entries);
    }

    let mut own = entry(request, request.manager, Operation::Apply);
    own.set = field_set(request.schema, config).without(&request.reset);
    let merged = merge(request.schema, &older, config);
    let last = entries
        .iter()
        .position(|e| e.same(&own))
        .map(|position| entries.swap_remove(position));
    let newer = match &last {
        Some(last) if !last.set.is_empty() => {
            let schema = (request.versions)(&last.api_version).unwrap_or(request.schema);
            let owned = entries.iter().fold(own.set.clone(), |all, entry| all.union(&entry.set));
            prune(schema, &merged, &last.set, &owned)
        }
        _ => merged,
    };
    take(request, &older, &newer, &mut entries, force)?;
    // A configuration that changes nothing keeps its time.
    own.time = if equal(&older, &newer) {
        last.and_then(|last| last.time)
    } else {
        request.now.map(str::to_owned)
    };
    own.set = own.set.difference(&NEVER_OWNED);
    if !own.set.is_empty() {
        entries.push(own);
    }
    let mut object = newer;
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    write_entries(&mut object, entries);
    Ok(object)
}

/// The object as it is compared: with the parts that are always written, without managedFields.
fn bare(object: Option<&Value>, request: &Request<'_>) -> Value {
    let mut bare = match object {
        Some(object) => object.clone(),
        None => {
            let mut empty = json!({"apiVersion": request.api_version, "kind": request.kind});
            encode(request.schema, &mut empty);
            empty
        }
    };
    if let Some(metadata) = bare.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    bare
}

fn entry(request: &Request<'_>, manager: &str, operation: Operation) -> Entry {
    Entry {
        manager: manager.to_owned(),
        operation,
        api_version: request.api_version.to_owned(),
        subresource: request.subresource.to_owned(),
        time: request.now.map(str::to_owned),
        set: Set::default(),
    }
}

/// A write's changes become its manager's, and are taken from everybody else.
fn record(request: &Request<'_>, older: &Value, newer: &Value, manager: &str, entries: &mut Vec<Entry>) {
    // Never fails: a write that is no apply takes what it wants.
    let Ok(found) = take(request, older, newer, entries, true) else {
        return;
    };
    let set = found
        .modified
        .union(&found.added)
        .without(&request.reset)
        .difference(&NEVER_OWNED);
    if set.is_empty() {
        return;
    }
    let mut own = entry(request, manager, Operation::Update);
    own.set = set;
    match entries.iter_mut().find(|e| e.same(&own)) {
        Some(known) => {
            known.set = known.set.union(&own.set);
            known.time = own.time;
        }
        None => entries.push(own),
    }
}

/// Takes changed and removed fields from the other managers.
fn take(
    request: &Request<'_>,
    older: &Value,
    newer: &Value,
    entries: &mut Vec<Entry>,
    force: bool,
) -> Result<Comparison, Error> {
    let own = compare(request.schema, older, newer).without(&request.reset);
    let mut conflicts = Vec::new();
    let mut remaining = Vec::with_capacity(entries.len());
    for entry in entries.iter() {
        let other;
        let found = if entry.api_version == request.api_version {
            &own
        } else {
            let Some(schema) = (request.versions)(&entry.api_version) else {
                continue;
            };
            other = compare(schema, older, newer).without(&request.reset);
            &other
        };
        let taken = entry.set.intersection(&found.modified.union(&found.added));
        conflicts.extend(taken.paths().into_iter().map(|path| Conflict::new(entry, path)));
        let set = entry.set.difference(&taken).difference(&found.removed);
        if !set.is_empty() {
            remaining.push(Entry { set, ..entry.clone() });
        }
    }
    if !force && !conflicts.is_empty() {
        return Err(Error::Conflict(conflicts));
    }
    *entries = remaining;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    fn request<'a>(manager: &'a str, now: &'a str) -> Request<'a> {
        Request {
            schema: kinds::schema_of("v1", "ConfigMap").unwrap(),
            api_version: "v1",
            kind: "ConfigMap",
            manager,
            subresource: "",
            now: Some(now),
            reset: Set::default(),
            versions: &|_| None,
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
    fn config(data: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
    }

    fn owners(object: &Value) -> Vec<(String, String, Value)> {
        let list = object["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        list.iter()
            .map(|e| {
                let text = |key: &str| e[key].as_str().unwrap_or_default().to_owned();
                (text("manager"), text("operation"), e["fieldsV1"].clone())
            })
            .collect()
    }

    #[test]
    fn appliers_share_what_they_agree_on_and_the_last_owner_removes() {
        let one = apply(&request("one", "t1"), None, &config(json!({"k": "v"})), false).unwrap();
        assert_eq!(
            owners(&one),
            [("one".into(), "Apply".into(), json!({"f:data": {"f:k": {}}}))]
        );
        let both = apply(
            &request("two", "t2"),
            Some(&one),
            &config(json!({"k": "v", "l": "w"})),
            false,
        )
        .unwrap();
        assert_eq!(owners(&both).len(), 2);
        let left = apply(&request("one", "t3"), Some(&both), &config(Value::Null), false).unwrap();
        assert_eq!(left["data"], json!({"k": "v", "l": "w"}), "two still owns it");
        let last = apply(&request("two", "t4"), Some(&left), &config(json!({"l": "w"})), false).unwrap();
        assert_eq!(last["data"], json!({"l": "w"}));
    }

    #[test]
    fn applying_the_same_again_changes_nothing() {
        let one = apply(&request("one", "t1"), None, &config(json!({"k": "v"})), false).unwrap();
        assert_eq!(
            apply(&request("one", "t2"), Some(&one), &config(json!({"k": "v"})), false).unwrap(),
            one
        );
    }

    #[test]
    fn an_updaters_field_conflicts_until_forced() {
        let mut object = config(json!({"k": "v"}));
        update(&request("creator", "t1"), None, &mut object);
        assert_eq!(
            owners(&object),
            [(
                "creator".into(),
                "Update".into(),
                json!({"f:data": {".": {}, "f:k": {}}})
            )]
        );
        let error = apply(&request("one", "t2"), Some(&object), &config(json!({"k": "w"})), false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Apply failed with 1 conflict: conflict with \"creator\" using v1: .data.k"
        );
        let forced = apply(&request("one", "t2"), Some(&object), &config(json!({"k": "w"})), true).unwrap();
        assert_eq!(owners(&forced)[0].2, json!({"f:data": {"f:k": {}}}));
        assert_eq!(owners(&forced)[1].2, json!({"f:data": {}}));
    }

    #[test]
    fn an_update_takes_fields_from_an_applier() {
        let one = apply(&request("one", "t1"), None, &config(json!({"k": "v", "l": "w"})), false).unwrap();
        let mut edited = one.clone();
        edited["data"]["k"] = json!("changed");
        update(&request("editor", "t2"), Some(&one), &mut edited);
        assert_eq!(
            owners(&edited),
            [
                ("one".into(), "Apply".into(), json!({"f:data": {"f:l": {}}})),
                ("editor".into(), "Update".into(), json!({"f:data": {"f:k": {}}})),
            ]
        );
        let mut same = edited.clone();
        update(&request("third", "t3"), Some(&edited), &mut same);
        assert_eq!(same, edited, "a write that changes nothing owns nothing");
    }

    #[test]
    fn a_configuration_of_another_type_is_refused_in_upstreams_words() {
        let mut bad = config(json!({}));
        bad["spec"] = json!({"x": 1});
        assert_eq!(
            apply(&request("m", "t"), None, &bad, false).unwrap_err().to_string(),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .spec: field not declared in schema"
        );
        assert_eq!(
            apply(&request("m", "t"), None, &json!({"metadata": {"name": "a"}}), false)
                .unwrap_err()
                .to_string(),
            "invalid object type: /, Kind="
        );
    }

    #[test]
    fn old_updaters_share_an_entry() {
        let mut object = config(json!({"k": "0"}));
        update(&request("creator", "t00"), None, &mut object);
        for turn in 1..15 {
            let mut next = object.clone();
            next["data"][format!("k{turn}")] = json!("x");
            let (name, time) = (format!("m{turn:02}"), format!("t{turn:02}"));
            update(&request(&name, &time), Some(&object), &mut next);
            object = next;
        }
        let names: Vec<String> = owners(&object).into_iter().map(|o| o.0).collect();
        assert_eq!(names.len(), 10);
        assert!(names.contains(&"ancient-changes".to_owned()), "{names:?}");
    }

    #[test]
    fn managers_can_be_forgotten_and_stay_so_until_an_apply() {
        let mut object = config(json!({"k": "v"}));
        update(&request("creator", "t1"), None, &mut object);
        let mut reset = object.clone();
        reset["metadata"]["managedFields"] = json!([{}]);
        update(&request("editor", "t2"), Some(&object), &mut reset);
        assert!(reset["metadata"].get("managedFields").is_none());
        let mut edited = reset.clone();
        edited["data"]["k"] = json!("w");
        update(&request("editor", "t3"), Some(&reset), &mut edited);
        assert!(edited["metadata"].get("managedFields").is_none());
        let applied = apply(&request("one", "t4"), Some(&edited), &config(json!({"l": "x"})), false).unwrap();
        let names: Vec<String> = owners(&applied).into_iter().map(|o| o.0).collect();
        assert_eq!(names, ["one", "before-first-apply"]);
    }
}
