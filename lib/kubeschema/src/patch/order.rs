//! The order of merged lists: the patch's order wins among its items, the object's among the rest, and the two are
//! interleaved so that the object's order is kept where it knows both neighbours.

use serde_json::Value;

/// Whether two items are the same one: by merge key, or by value for lists of scalars.
pub(super) fn same(a: &Value, b: &Value, key: Option<&str>) -> bool {
    match key {
        Some(key) => matches!((a.get(key), b.get(key)), (Some(x), Some(y)) if x == y),
        None => a == b,
    }
}

fn position(list: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    list.iter().position(|other| same(other, item, key))
}

/// Orders `merged` by what the patch wants (`wanted`) and what the object had (`before`).
pub(super) fn arrange(merged: Vec<Value>, wanted: &[Value], before: &[Value], key: Option<&str>) -> Vec<Value> {
    let (mut named, mut others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| position(wanted, item, key).is_some());
    named.sort_by_key(|item| position(wanted, item, key));
    others.sort_by_key(|item| position(before, item, key).unwrap_or(usize::MAX));
    let mut named = named.into_iter().peekable();
    let mut others = others.into_iter().peekable();
    let mut arranged = Vec::new();
    loop {
        let other_first = match (others.peek(), named.peek()) {
            (None, None) => return arranged,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(other), Some(item)) => {
                matches!((position(before, other, key), position(before, item, key)), (Some(a), Some(b)) if a < b)
            }
        };
        arranged.extend(if other_first { others.next() } else { named.next() });
    }
}
