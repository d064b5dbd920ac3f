//! Writes the count of a content, or deletes it.

use fleet_api::Content;
use fleet_runtime::{Action, Context, Error, write};
use serde_json::json;

use super::decide::Plan;
use crate::shell::name;

pub(super) async fn act(content: &Content, plan: Plan, cx: &Context) -> Result<Action, Error> {
    let api = cx.cluster::<Content>();
    match plan {
        Plan::Nothing(look) => return Ok(look.map_or(Action::AwaitChange, Action::After)),
        Plan::Delete { unlock } => {
            if unlock {
                write::patch(&api, name(content), &json!({"metadata": {"finalizers": null}})).await?;
            }
            write::delete(&api, content).await?;
        }
        Plan::Count(count) => {
            write::status_patch(&api, content, &json!({"status": {"referenceCount": count}})).await?;
        }
    }
    Ok(Action::AwaitChange)
}
