//! Turns roles and bindings into decisions: may this user do that?
//!
//! A decision looks up the caller's name and groups among the bindings of the request's namespace and of the cluster; it
//! never walks bindings of others. The index follows the store's events and is brought up to date before each decision,
//! so that a right counts (and a withdrawn one does not) as soon as its write was answered. Mirrors upstream's RBAC
//! authorizer, the privileged group `system:masters`, and the escalation checks of the RBAC registry.
//!
//! Three questions are asked here: [`Rbac`] as authorizer for every request, [`Reviews::answer`] for creates that are
//! answered and not stored, and [`Rbac::check_write`] for every create and update (patch, apply) of the four kinds of
//! the RBAC group, with the object as it will be stored.

mod binding;
mod default;
mod escalation;
mod index;
mod rbac;
mod review;
mod rule;

pub use self::default::{default_bindings, default_roles};
pub use self::rbac::Rbac;
pub use self::review::{Reviews, Target};

use crate::access::{Attributes, User};
use crate::status::{Details, Status};

/// Members may do everything; upstream's hard-wired group of the installation's administrators.
pub(crate) const MASTERS: &str = "system:masters";
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// The 403 for a request that is not allowed, in the words that users search for.
#[must_use]
pub fn forbidden(user: &User, attributes: &Attributes, reason: &str) -> Status {
    let mut why = format!("User {:?} cannot {} ", user.name, attributes.verb);
    if attributes.resource.is_empty() {
        why.push_str(&format!("path {:?}", attributes.path));
        append(&mut why, reason);
        let mut status = Status::new(403, "Forbidden", format!("forbidden: {why}"));
        status.details = Some(Details::default());
        return status;
    }
    let resource = match attributes.subresource.as_str() {
        "" => attributes.resource.clone(),
        subresource => format!("{}/{subresource}", attributes.resource),
    };
    why.push_str(&format!("resource {resource:?} in API group {:?} ", attributes.group));
    match attributes.namespace.as_str() {
        "" => why.push_str("at the cluster scope"),
        namespace => why.push_str(&format!("in the namespace {namespace:?}")),
    }
    append(&mut why, reason);
    Status::forbidden(&attributes.group, &attributes.resource, &attributes.name, &why)
}

fn append(text: &mut String, reason: &str) {
    if !reason.is_empty() {
        text.push_str(": ");
        text.push_str(reason);
    }
}

#[cfg(test)]
mod tests;
