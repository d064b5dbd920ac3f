//! Conditions of definitions: their names, whether they are served, who approved them, that they are going.

use serde_json::{Value, json};

use crate::crd::approval::Approval;

/// What a condition says.
pub(super) struct Verdict {
    pub(super) kind: &'static str,
    pub(super) holds: bool,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Verdict {
    /// Something that holds.
    pub(super) fn holds(kind: &'static str, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            holds: true,
            reason,
            message,
        }
    }

    /// Something that does not.
    pub(super) fn fails(kind: &'static str, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            holds: false,
            ..Self::holds(kind, reason, message)
        }
    }

    /// What is said about an approval.
    pub(super) fn of(approval: &Approval) -> Self {
        const KIND: &str = "KubernetesAPIApprovalPolicyConformant";
        match approval {
            Approval::Given(address) => Self::holds(KIND, "ApprovedAnnotation", format!("approved in {address}")),
            Approval::Waived(why) => Self::fails(KIND, "UnapprovedAnnotation", format!("not approved: {why:?}")),
            Approval::Missing => Self::fails(KIND, "MissingAnnotation", "there is no approval"),
            Approval::Unclear(text) => Self::fails(KIND, "InvalidAnnotation", format!("no approval: {text:?}")),
        }
    }

    /// Writes the condition; its time is that of the last change of its status.
    pub(super) fn write(self, object: &mut Value, now: &str) {
        let conditions = &mut object["status"]["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(list) = conditions.as_array_mut() else { return };
        let status = if self.holds { "True" } else { "False" };
        let new = json!({
            "type": self.kind, "status": status, "reason": self.reason, "message": self.message,
            "lastTransitionTime": now,
        });
        match list.iter_mut().find(|condition| condition["type"] == self.kind) {
            Some(condition) if condition["status"] == status => {
                condition["reason"] = new["reason"].clone();
                condition["message"] = new["message"].clone();
            }
            Some(condition) => *condition = new,
            None => list.push(new),
        }
    }
}
