//! Differences between what a release wants and what is there: compares only fields that the
//! bundle sets, after both sides were brought into one form, and leaves out what the agent still
//! owns and what the user said is no difference. Pure. No false positive is more important than
//! any finding. Mirrors upstream's diff and its normalizers.

mod list;
mod normal;
mod owned;
mod predict;
mod rule;

use fleet_api::DiffOptions;
use kubeschema::kinds;
use kubeschema::schema::Type;
use serde_json::Value;

use self::owned::Owned;
use self::predict::{Extra, Merge};
pub use self::rule::absence_is_ignored;
use crate::object::ObjectKey;

/// The merge patch that would make `live` right again, or `None` if it is right.
#[must_use]
pub fn difference(desired: &Value, live: &Value, options: Option<&DiffOptions>) -> Option<Value> {
    let original = normal::last_applied(live);
    let owned = Owned::of(live);
    let key = ObjectKey::of(live);
    let schema = kinds::schema_of(&key.api_version, &key.kind).unwrap_or(&Type::Any);
    let (mut desired, mut live) = (desired.clone(), live.clone());
    normal::normalize(&mut desired, &mut live);
    owned.adopt(schema, &mut desired, &live);
    rule::ignore(options, &key, &mut desired, &mut live);
    let merge = Merge {
        schema,
        shape: &owned.shape,
        extra: extra(&key, &owned),
    };
    let merged = merge.merged(&desired, &live);
    let change = |mut merged: Value| {
        let mut live = live.clone();
        for side in [&mut merged, &mut live] {
            predict::complete(&key, schema, side);
        }
        let mut change = predict::changes(&live, &merged)?;
        normal::drop_bookkeeping(&mut change);
        change.as_object().is_some_and(|map| !map.is_empty()).then_some(change)
    };
    let plain = change(merged.clone())?;
    // kubectl's memory of a field only counts once something else differs.
    let Some(original) = original else { return Some(plain) };
    let mut merged = merged;
    predict::forget(&mut merged, &original, &desired);
    change(merged)
}

/// After a server-side apply every field that the bundle sets was ours, so whatever differs
/// inside a list was put there by others. Otherwise that is only taken for granted where an
/// entry more is a right more.
fn extra(key: &ObjectKey, owned: &Owned) -> Extra {
    if owned.applied || matches!(key.kind.as_str(), "Role" | "ClusterRole" | "CustomResourceDefinition") {
        Extra::Reported
    } else {
        Extra::Tolerated
    }
}

#[cfg(test)]
mod tests;
