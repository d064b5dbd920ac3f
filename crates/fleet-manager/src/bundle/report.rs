//! Says in a bundle's status what the plan counted and what could not be done. Owns the whole
//! status of bundles.

use fleet_api::{Bundle, condition};
use fleet_runtime::{Context, Error, write};

use super::act::{Done, Outcome};
use crate::cluster::ready;
use crate::shell::namespace;

/// Problems named in the condition.
const NAMED: usize = 4;

pub(super) async fn report(bundle: &Bundle, done: &Done, cx: &Context) -> Result<(), Error> {
    let now = cx.now();
    let mut status = bundle.status.clone().unwrap_or_default();
    match &done.outcome {
        Outcome::Silent => return Ok(()),
        Outcome::Refused { message, sha256sum } => {
            if !sha256sum.is_empty() {
                status.resources_sha256_sum.clone_from(sha256sum);
            }
            condition::set_error(&mut status.conditions, condition::READY, "", Some(message), now);
        }
        Outcome::Incomplete(message) => {
            condition::set_error(&mut status.conditions, condition::READY, "", Some(message), now);
        }
        Outcome::Planned {
            status: planned,
            ready_message,
            problems,
        } => {
            let conditions = std::mem::take(&mut status.conditions);
            let reference = std::mem::take(&mut status.oci_reference);
            status = (**planned).clone();
            status.conditions = conditions;
            status.oci_reference = reference;
            if problems.is_empty() {
                condition::set(&mut status.conditions, condition::READY, ready(ready_message), now);
            } else {
                let message = problems.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
                condition::set_error(&mut status.conditions, condition::READY, "", Some(&message), now);
            }
        }
    }
    let api = cx.namespaced::<Bundle>(namespace(bundle));
    // Counters that were never anything but zero are left out.
    let before = bundle.status.clone().unwrap_or_default();
    write::status(&api, bundle, Some(&before), &status).await.map(drop)
}
