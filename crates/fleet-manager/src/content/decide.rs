//! A content and the number of its users → whether it stays. Pure.

use std::time::Duration;

use fleet_api::Content;
use fleet_runtime::clock::between;
use k8s_openapi::jiff::Timestamp;

use crate::shell::deleting;

/// A content that was never used is left over from a manager that was killed before it wrote the
/// first deployment. Whoever still wants it writes it again, with the same name.
const UNUSED: Duration = Duration::from_secs(60 * 60);

/// What is to be done for a content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// As it should be; look again after this long.
    Nothing(Option<Duration>),
    /// Nobody uses it; finalizers of earlier versions are in the way if true.
    Delete { unlock: bool },
    /// Write the count.
    Count(i64),
}

pub(super) fn decide(content: &Content, users: usize, now: Timestamp) -> Plan {
    let locked = content.metadata.finalizers.as_ref().is_some_and(|all| !all.is_empty());
    let before = content.status.as_ref().map_or(0, |status| status.reference_count);
    let users = i64::try_from(users).unwrap_or(i64::MAX);
    if deleting(content) {
        return if locked {
            Plan::Delete { unlock: true }
        } else {
            Plan::Nothing(None)
        };
    }
    if users > 0 {
        return if before == users {
            Plan::Nothing(None)
        } else {
            Plan::Count(users)
        };
    }
    let age = content
        .metadata
        .creation_timestamp
        .as_ref()
        .map_or(Duration::ZERO, |made| between(made.0, now));
    if before > 0 || locked || age > UNUSED {
        return Plan::Delete { unlock: locked };
    }
    Plan::Nothing(Some(UNUSED - age + Duration::from_secs(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_api::ContentStatus;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    #[test]
    fn content_stays_while_it_is_used_or_new() {
        let plan = |before: i64, users, age: i64, locked: bool| {
            let mut content = Content::named("s-1");
            content.metadata.creation_timestamp = Some(Time(Timestamp::from_second(0).unwrap()));
            content.metadata.finalizers = locked.then(|| vec!["f".to_owned()]);
            content.status = Some(ContentStatus {
                reference_count: before,
            });
            decide(&content, users, Timestamp::from_second(age).unwrap())
        };
        assert_eq!(plan(0, 0, 3600, false), Plan::Nothing(Some(Duration::from_secs(1))));
        assert_eq!(plan(0, 0, 3601, false), Plan::Delete { unlock: false });
        assert_eq!(plan(1, 0, 1, false), Plan::Delete { unlock: false });
        assert_eq!(plan(0, 0, 1, true), Plan::Delete { unlock: true });
        assert_eq!(plan(0, 2, 1, false), Plan::Count(2));
        assert_eq!(plan(2, 2, 1, false), Plan::Nothing(None));
    }
}
