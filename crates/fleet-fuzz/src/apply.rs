//! Server-side apply: what is applied is there, applying it again changes nothing, and owners can be read back.

use std::sync::OnceLock;

use apiserver::apply::{Manager, apply, update};
use apiserver::registry::{Registry, Resource};
use apiserver::{defaulting, validation};
use kubeschema::kinds;
use kubeschema::schema::Type;
use kubeschema::{smd, strict};
use serde_json::Value;

use crate::null::has_null;
use crate::section;

/// The stored object (with managedFields, or empty for none), then the configuration that is applied.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [live, config] = section::parts(text);
    // What a strict server looks at first.
    let _ = strict::scan(&config);
    let (Ok(live), Ok(config)) = (goyaml::parse(&live), goyaml::parse(&config)) else {
        return;
    };
    let Some(resource) = resource(&config).or_else(|| resource(&live)) else {
        return;
    };
    let live = live
        .is_object()
        .then_some(live)
        .and_then(|live| decoded(resource, live));
    if !config.is_object() {
        return;
    }
    if let Some(live) = &live {
        let mut written = config.clone();
        update(resource, Some(live), &mut written, &manager("writer", 1));
        check_owners(&written);
        let mut same = live.clone();
        update(resource, Some(live), &mut same, &manager("writer", 1));
        check_owners(&same);
        assert_eq!(unowned(&same), unowned(live), "a write of the same changes something");
    }
    let _ = apply(resource, live.as_ref(), &config, &manager("one", 2), false);
    let Ok(applied) = apply(resource, live.as_ref(), &config, &manager("one", 2), true) else {
        return;
    };
    check_owners(&applied);
    if !has_null(&config) {
        let schema = kinds::schema_of(&resource.api_version(), &resource.kind).unwrap_or_else(|| Type::any());
        let difference = smd::compare(schema, &config, &unowned(&applied));
        assert!(
            difference.removed.is_empty() && difference.modified.is_empty(),
            "{config} is not all in {applied}"
        );
    }
    let Some(applied) = decoded(resource, applied) else {
        return;
    };
    // What is refused is never stored.
    if !validation::validate(resource, &applied, live.as_ref()).is_empty() {
        return;
    }
    let once = applied_again(resource, &applied, &config, 3);
    // A null in the key of a list's item is not stored, so that the next apply adds the item again: the reference does
    // so too, and refuses what comes of it.
    if has_null(&config) && once != applied && !validation::validate(resource, &once, Some(&applied)).is_empty() {
        return;
    }
    // Whoever applied last may own nothing. The next apply then notes, as the reference does, that somebody was there;
    // but it changes nothing else, and the one after that nothing at all.
    if applied["metadata"].get("managedFields").is_none() {
        assert_eq!(unowned(&once), applied, "applying again changes more than owners");
        assert_eq!(
            applied_again(resource, &once, &config, 4),
            once,
            "applying a third time changes something"
        );
        return;
    }
    assert_eq!(once, applied, "applying again changes something");
}

fn applied_again(resource: &Resource, live: &Value, config: &Value, second: u8) -> Value {
    match apply(resource, Some(live), config, &manager("one", second), false) {
        Ok(again) => decoded(resource, again).unwrap_or_default(),
        Err(status) => panic!("what was applied cannot be applied again: {}", status.message),
    }
}

/// The object without its owners.
fn unowned(object: &Value) -> Value {
    let mut bare = object.clone();
    if let Some(metadata) = bare.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    bare
}

fn manager(name: &str, second: u8) -> Manager {
    Manager {
        name: name.to_owned(),
        subresource: String::new(),
        time: format!("2026-01-01T00:00:0{second}Z"),
    }
}

fn resource(object: &Value) -> Option<&'static Resource> {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let registry = REGISTRY.get_or_init(Registry::builtin);
    let (version, kind) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
    registry
        .resources()
        .find(|resource| resource.kind == kind && resource.api_version() == version)
        .map(AsRef::as_ref)
}

/// The object as it is stored; `None` for one that is refused.
fn decoded(resource: &Resource, mut object: Value) -> Option<Value> {
    defaulting::decode(resource, &mut object).ok().map(|_| object)
}

fn check_owners(object: &Value) {
    if let Err(error) = smd::read_entries(object) {
        panic!("owners that were written cannot be read: {error}");
    }
}
