//! Lists of two states of an object → which items correspond. Built-in kinds say in their
//! schema how their items are told apart; for other kinds the owners' field paths of the live
//! object show it. Mirrors the list types of server-side apply.

use kubeschema::schema::{Field, ListKind, Type};
use kubeschema::smd::Set;
use serde_json::{Map, Value};

/// How the items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Items {
    /// Not at all: the list is one value.
    Whole,
    /// By their values.
    Values,
    /// By these fields.
    Keyed(Vec<String>),
}

/// What is known of a list's items: from its type, else from the paths below it.
pub(super) fn items(schema: &Type, field: Option<&Field>, shape: Option<&Set>) -> Items {
    if let Type::List(list) = schema.resolve() {
        return match (&list.kind, field.map(|field| &field.strategy)) {
            (ListKind::Map(keys), _) => Items::Keyed(keys.clone()),
            (ListKind::Set, _) => Items::Values,
            (ListKind::Atomic, Some(strategy)) if strategy.merge => match &strategy.merge_key {
                Some(key) => Items::Keyed(vec![key.clone()]),
                None => Items::Values,
            },
            (ListKind::Atomic, _) => Items::Whole,
        };
    }
    for (element, ..) in shape.into_iter().flat_map(Set::elements) {
        if let Some(keys) = keys(element) {
            return Items::Keyed(keys.into_iter().map(|(key, _)| key).collect());
        }
        if element.starts_with("v:") {
            return Items::Values;
        }
    }
    Items::Whole
}

/// The key fields in the name of an item of a list.
pub(super) fn keys(element: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(element.strip_prefix("k:")?).ok()
}

/// Equality of values, numbers by amount.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && b.is_number() && a.as_f64() == b.as_f64())
}

/// Whether two items, or an item and the fields in a name, are the same item. A key field that
/// is left out has its default; where no default is known, it may be anything.
pub(super) fn same<'k>(
    keys: impl Iterator<Item = &'k String>,
    item: &Type,
    a: impl Fn(&str) -> Option<Value>,
    b: impl Fn(&str) -> Option<Value>,
) -> bool {
    let mut agreed = false;
    for key in keys {
        let default = || item.field(key).and_then(|field| field.default.clone());
        match (a(key).or_else(default), b(key).or_else(default)) {
            (Some(a), Some(b)) if equal(&a, &b) => agreed = true,
            (Some(_), Some(_)) => return false,
            (None, None) => {}
            _ if matches!(item.resolve(), Type::Any) => {}
            _ => return false,
        }
    }
    agreed
}

/// For each wanted item the position of its counterpart. Items that share a name correspond in
/// their order: each counterpart is taken once.
pub(super) fn pairs(keys: &[String], item: &Type, wanted: &[Value], there: &[Value]) -> Vec<Option<usize>> {
    let mut taken = vec![false; there.len()];
    wanted
        .iter()
        .map(|one| {
            let found = there.iter().zip(&taken).position(|(other, taken)| {
                !taken
                    && same(
                        keys.iter(),
                        item,
                        |key| one.get(key).cloned(),
                        |key| other.get(key).cloned(),
                    )
            })?;
            if let Some(slot) = taken.get_mut(found) {
                *slot = true;
            }
            Some(found)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use kubeschema::kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn types_and_owners_tell_items_apart() {
        let pod = kinds::schema_of("v1", "Pod").unwrap().child("spec").unwrap();
        let of = |name: &str| items(pod.child(name).unwrap(), pod.field(name), None);
        assert_eq!(of("containers"), Items::Keyed(vec!["name".into()]));
        assert_eq!(of("tolerations"), Items::Whole);
        let shape = |fields: Value| items(&Type::Any, None, Some(&Set::from_fields_v1(&fields)));
        assert_eq!(
            shape(json!({"k:{\"port\":1,\"protocol\":\"TCP\"}": {}})),
            Items::Keyed(vec!["port".into(), "protocol".into()])
        );
        assert_eq!(shape(json!({"v:\"a\"": {}})), Items::Values);
        assert_eq!(shape(json!({})), Items::Whole);
    }

    #[test]
    fn a_key_that_is_left_out_has_its_default() {
        let service = kinds::schema_of("v1", "Service").unwrap();
        let ports = service.child("spec").and_then(|spec| spec.child("ports")).unwrap();
        let keys = ["port".to_owned(), "protocol".to_owned()];
        let there = [
            json!({"port": 53, "protocol": "UDP"}),
            json!({"port": 53, "protocol": "TCP"}),
        ];
        let wanted = [
            json!({"port": 53}),
            json!({"port": 53, "protocol": "UDP"}),
            json!({"port": 54}),
        ];
        assert_eq!(
            pairs(&keys, ports.item().unwrap(), &wanted, &there),
            [Some(1), Some(0), None]
        );
    }

    #[test]
    fn items_that_share_a_name_correspond_in_their_order() {
        let list = [json!({"name": "A", "value": "1"}), json!({"name": "A", "value": "2"})];
        assert_eq!(
            pairs(&["name".to_owned()], &Type::Any, &list, &list),
            [Some(0), Some(1)]
        );
    }
}
