//! What containers may use at most and want at least.

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::quantity::Quantity;

use super::super::place::{Errors, Place};

/// Limits and requests, each by itself and against each other.
pub(crate) fn check(resources: &Place<'_>, errors: &mut Errors) {
    let limits = resources.at("limits");
    for part in ["limits", "requests"] {
        for (name, amount) in resources.at(part).entries() {
            named(name, &amount, errors);
            quantity(name, &amount, errors);
        }
    }
    for (name, request) in resources.at("requests").entries() {
        let limit = &limits.value[name.as_str()];
        let place = resources.at("requests").path;
        match (
            parsed(&request),
            limit.as_str().and_then(|text| Quantity::parse(text).ok()),
        ) {
            (Some(wanted), Some(most)) => {
                let shown = limit.as_str().unwrap_or_default();
                if whole(name) && wanted != most {
                    let why = format!("must be equal to {name} limit of {shown}");
                    errors.push(FieldError::invalid(place, request.value.clone(), why));
                } else if !whole(name) && wanted > most {
                    let why = format!("must be less than or equal to {name} limit of {shown}");
                    errors.push(FieldError::invalid(place, request.value.clone(), why));
                }
            }
            (_, None) if whole(name) => {
                errors.push(limits.required("Limit must be set for non overcommitable resources"));
            }
            _ => {}
        }
    }
}

/// A name of a resource: a standard one, or one with a domain.
pub(crate) fn named(name: &str, place: &Place<'_>, errors: &mut Errors) {
    const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
    let complaints = name::qualified(name);
    let qualified = complaints.is_empty();
    errors.extend(
        complaints
            .into_iter()
            .map(|why| FieldError::invalid(place.path.as_str(), name, why)),
    );
    if qualified && !name.contains('/') && !STANDARD.contains(&name) && !name.starts_with("hugepages-") {
        let why = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(place.path.as_str(), name, why));
    }
}

/// An amount: never negative, and a whole number of what cannot be divided.
pub(crate) fn quantity(name: &str, place: &Place<'_>, errors: &mut Errors) {
    let Some(amount) = parsed(place) else { return };
    if amount.nano() < 0 {
        errors.push(place.invalid("must be greater than or equal to 0"));
    } else if whole(name) && amount.nano() % 1_000_000_000 != 0 {
        errors.push(place.invalid("must be an integer"));
    }
}

pub(crate) fn parsed(place: &Place<'_>) -> Option<Quantity> {
    Quantity::parse(place.own()).ok()
}

/// Whether a resource comes in whole pieces that cannot be shared.
fn whole(name: &str) -> bool {
    name.starts_with("hugepages-") || (name.contains('/') && !name.contains("kubernetes.io/"))
}
