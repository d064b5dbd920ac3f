//! Which names of a definition are its own: within a group no two definitions share a name.
//!
//! Mirrors upstream's naming controller: every name is accepted by itself, and one that is taken keeps what was accepted
//! before. Never looks anything up.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Why not all names of a definition were accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conflict {
    /// For example `PluralConflict`.
    pub(super) reason: &'static str,
    /// Names what is taken.
    pub(super) message: String,
}

/// Names that definitions hold.
#[derive(Default)]
struct Taken<'a> {
    resources: BTreeSet<&'a str>,
    kinds: BTreeSet<&'a str>,
}

impl<'a> Taken<'a> {
    fn add(&mut self, accepted: &'a Value) {
        let text = |key: &str| accepted[key].as_str().filter(|name| !name.is_empty());
        self.resources
            .extend(["plural", "singular"].into_iter().filter_map(text));
        self.resources.extend(list(accepted));
        self.kinds.extend(["kind", "listKind"].into_iter().filter_map(text));
    }
}

fn list(names: &Value) -> impl Iterator<Item = &str> {
    let names = names["shortNames"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str)
}

/// The names a definition gets, and the last conflict, if any, among those it asks for. `others` are the accepted names
/// of the other definitions in its group.
pub(super) fn accept<'a>(definition: &Value, others: impl IntoIterator<Item = &'a Value>) -> (Value, Option<Conflict>) {
    let (wanted, before) = (&definition["spec"]["names"], &definition["status"]["acceptedNames"]);
    let mut taken = Taken::default();
    for names in others {
        taken.add(names);
    }
    let mut accepted = Map::new();
    let mut conflict = None;
    let keep = |key: &str, names: &Value, accepted: &mut Map<String, Value>| {
        if let Some(value) = names.get(key).filter(|value| !value.is_null()) {
            accepted.insert(key.to_owned(), value.clone());
        }
    };
    for (key, reason) in [
        ("plural", "PluralConflict"),
        ("singular", "SingularConflict"),
        ("shortNames", "ShortNamesConflict"),
        ("kind", "KindConflict"),
        ("listKind", "ListKindConflict"),
    ] {
        let used = if key.to_lowercase().ends_with("kind") {
            &taken.kinds
        } else {
            &taken.resources
        };
        let clash = if key == "shortNames" {
            list(wanted).find(|name| used.contains(name))
        } else {
            wanted[key].as_str().filter(|name| used.contains(name))
        };
        match clash {
            Some(name) => {
                let message = format!("{name:?} is already in use");
                conflict = Some(Conflict { reason, message });
                keep(key, before, &mut accepted);
            }
            None => keep(key, wanted, &mut accepted),
        }
    }
    keep("categories", wanted, &mut accepted);
    for key in ["plural", "kind"] {
        accepted.entry(key).or_insert_with(|| json!(""));
    }
    (Value::Object(accepted), conflict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plural: &str, kind: &str, short: &[&str]) -> Value {
        json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
            "shortNames": short})
    }

    fn definition(names: &Value) -> Value {
        json!({"spec": {"names": names}, "status": {"acceptedNames": {"plural": "", "kind": ""}}})
    }

    #[test]
    fn free_names_are_accepted_as_they_are() {
        let wanted = names("bars", "Bar", &["ba"]);
        assert_eq!(
            accept(&definition(&wanted), [&names("foos", "Foo", &["fo"])]),
            (wanted, None)
        );
    }

    #[test]
    fn each_taken_name_is_left_out_and_the_last_one_told() {
        let (accepted, conflict) = accept(
            &definition(&names("bars", "Foo", &["ba", "fo"])),
            [&names("foos", "Foo", &["fo"])],
        );
        assert_eq!(accepted, json!({"plural": "bars", "kind": ""}));
        let conflict = conflict.unwrap();
        assert_eq!(
            (conflict.reason, conflict.message.as_str()),
            ("ListKindConflict", "\"FooList\" is already in use")
        );
    }

    #[test]
    fn resources_clash_with_short_names_and_kinds_with_kinds_of_lists() {
        let foos = names("foos", "Foo", &["fo"]);
        let reason = |wanted: Value| accept(&definition(&wanted), [&foos]).1.map(|conflict| conflict.reason);
        assert_eq!(reason(names("fo", "Bar", &[])), Some("PluralConflict"));
        assert_eq!(reason(names("bars", "Bar", &["foos"])), Some("ShortNamesConflict"));
        assert_eq!(reason(names("bars", "FooList", &[])), Some("KindConflict"));
    }

    #[test]
    fn what_was_accepted_before_stays_when_a_change_clashes() {
        let mut changed = definition(&names("bars", "Bar", &["ba", "fo"]));
        changed["status"]["acceptedNames"] = names("bars", "Bar", &["ba"]);
        let (accepted, conflict) = accept(&changed, [&names("foos", "Foo", &["fo"])]);
        assert_eq!(accepted["shortNames"], json!(["ba"]));
        assert_eq!(conflict.unwrap().reason, "ShortNamesConflict");
    }
}
