//! Reading and setting conditions the way upstream's wrangler does: changing status or message
//! stamps `lastUpdateTime`, a reason alone does not, `lastTransitionTime` is never set. The time
//! is passed in; nothing here looks at a clock.

use jiff::Timestamp;

use crate::status::Condition;

/// Condition type of most kinds.
pub const READY: &str = "Ready";
/// GitRepo and HelmOp: the spec was acceptable.
pub const ACCEPTED: &str = "Accepted";
/// GitRepo: last look-up of the commit.
pub const GIT_POLLING: &str = "GitPolling";
/// HelmOp: last look-up of the version.
pub const POLLED: &str = "Polled";
/// kstatus: work goes on.
pub const RECONCILING: &str = "Reconciling";
/// kstatus: work stopped at an error.
pub const STALLED: &str = "Stalled";
/// BundleDeployment: the release exists.
pub const INSTALLED: &str = "Installed";
/// BundleDeployment: the last deployment succeeded.
pub const DEPLOYED: &str = "Deployed";
/// BundleDeployment: the last look at live objects succeeded.
pub const MONITORED: &str = "Monitored";
/// Cluster and ClusterGroup: the manager handled it.
pub const PROCESSED: &str = "Processed";
/// Cluster: the agent was installed.
pub const IMPORTED: &str = "Imported";
/// Cluster: changes of the agent's settings were noticed.
pub const RECONCILED: &str = "Reconciled";
/// ImageScan: the last scan succeeded.
pub const IMAGE_SCANNED: &str = "ImageScanned";
/// GitRepo: scanned images were written to git.
pub const IMAGE_SYNCED: &str = "ImageSynced";

/// Status of a condition that holds.
pub const TRUE: &str = "True";
/// Status of a condition that does not hold.
pub const FALSE: &str = "False";
/// Status of a condition nobody has set.
pub const UNKNOWN: &str = "Unknown";
/// Reason of failures.
pub const ERROR: &str = "Error";

/// The condition of this type.
#[must_use]
pub fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// Status of the condition of this type, "" if there is none.
#[must_use]
pub fn status<'a>(conditions: &'a [Condition], kind: &str) -> &'a str {
    find(conditions, kind).map_or("", |condition| &condition.status)
}

/// Message of the condition of this type, "" if there is none.
#[must_use]
pub fn message<'a>(conditions: &'a [Condition], kind: &str) -> &'a str {
    find(conditions, kind).map_or("", |condition| &condition.message)
}

/// True if the condition of this type is `True`.
#[must_use]
pub fn is_true(conditions: &[Condition], kind: &str) -> bool {
    status(conditions, kind) == TRUE
}

/// True if the condition of this type is `False`.
#[must_use]
pub fn is_false(conditions: &[Condition], kind: &str) -> bool {
    status(conditions, kind) == FALSE
}

/// What a condition is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// `True`, `False` or `Unknown`.
    pub status: &'a str,
    /// One word, or "".
    pub reason: &'a str,
    /// For people, or "".
    pub message: &'a str,
}

/// Sets a condition; appends it if it is new. Times change only if status or message do.
pub fn set(conditions: &mut Vec<Condition>, kind: &str, setting: Setting<'_>, now: Timestamp) {
    let Setting {
        status,
        reason,
        message,
    } = setting;
    let index = conditions
        .iter()
        .position(|condition| condition.kind == kind)
        .unwrap_or_else(|| {
            conditions.push(Condition {
                kind: kind.to_owned(),
                status: UNKNOWN.to_owned(),
                ..Default::default()
            });
            conditions.len() - 1
        });
    let condition = &mut conditions[index];
    if condition.status != status || condition.message != message || condition.last_update_time.is_empty() {
        condition.last_update_time = rfc3339(now);
    }
    status.clone_into(&mut condition.status);
    reason.clone_into(&mut condition.reason);
    message.clone_into(&mut condition.message);
}

/// `True` without a message, or `False` with the error and a reason (`Error` if none is given).
pub fn set_error(conditions: &mut Vec<Condition>, kind: &str, reason: &str, error: Option<&str>, now: Timestamp) {
    let setting = match error {
        None => Setting {
            status: TRUE,
            reason,
            message: "",
        },
        Some(message) => Setting {
            status: FALSE,
            reason: if reason.is_empty() { ERROR } else { reason },
            message,
        },
    };
    set(conditions, kind, setting, now);
}

/// How far the work on an object is, as the pair `Reconciling`/`Stalled` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Nothing to do, nothing wrong.
    Settled,
    /// Work goes on.
    Working(&'a str),
    /// Work stopped.
    Stopped(&'a str),
}

/// Sets `Reconciling` and `Stalled`.
pub fn set_progress(conditions: &mut Vec<Condition>, progress: Progress<'_>, now: Timestamp) {
    const CLEARED: Setting<'_> = Setting {
        status: FALSE,
        reason: "",
        message: "",
    };
    let (reconciling, stalled) = match progress {
        Progress::Settled => (CLEARED, CLEARED),
        Progress::Working(message) => (
            Setting {
                status: TRUE,
                reason: RECONCILING,
                message,
            },
            CLEARED,
        ),
        Progress::Stopped(message) => (
            CLEARED,
            Setting {
                status: TRUE,
                reason: STALLED,
                message,
            },
        ),
    };
    set(conditions, RECONCILING, reconciling, now);
    set(conditions, STALLED, stalled, now);
}

/// `2026-01-02T03:04:05Z`: whole seconds, UTC, as `metav1.Time` writes it.
#[must_use]
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_and_message_move_the_time() {
        let mut conditions = Vec::new();
        let first = Timestamp::from_second(1_700_000_000).unwrap();
        let later = Timestamp::from_second(1_700_000_100).unwrap();
        set_error(&mut conditions, READY, "", Some("broken"), first);
        assert_eq!(
            (
                conditions[0].status.as_str(),
                conditions[0].reason.as_str(),
                conditions[0].last_update_time.as_str()
            ),
            ("False", "Error", "2023-11-14T22:13:20Z")
        );
        set_error(&mut conditions, READY, "Other", Some("broken"), later);
        assert_eq!(
            (conditions[0].reason.as_str(), conditions[0].last_update_time.as_str()),
            ("Other", "2023-11-14T22:13:20Z")
        );
        set_error(&mut conditions, READY, "", None, later);
        assert_eq!(
            (status(&conditions, READY), conditions[0].last_update_time.as_str()),
            ("True", "2023-11-14T22:15:00Z")
        );
        assert!(conditions[0].last_transition_time.is_empty());
    }

    #[test]
    fn progress_is_one_of_three() {
        let mut conditions = Vec::new();
        let now = Timestamp::UNIX_EPOCH;
        set_progress(&mut conditions, Progress::Stopped("no"), now);
        assert!(is_true(&conditions, STALLED) && is_false(&conditions, RECONCILING));
        assert_eq!(find(&conditions, STALLED).unwrap().reason, "Stalled");
        set_progress(&mut conditions, Progress::Settled, now);
        assert!(is_false(&conditions, STALLED) && message(&conditions, STALLED).is_empty());
    }
}
