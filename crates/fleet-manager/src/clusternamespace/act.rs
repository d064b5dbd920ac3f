//! Makes the namespace of a cluster.

use fleet_runtime::{Action, Context, Error, ResultExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;

use super::decide::Plan;

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    /// The namespace, if there is one.
    pub(super) namespace: Option<String>,
    /// Why there is none, though there should be.
    pub(super) failure: Option<Error>,
}

impl Done {
    pub(super) fn into_action(self) -> Result<Action, Error> {
        self.failure.map_or(Ok(Action::AwaitChange), Err)
    }
}

pub(super) async fn act(plan: Plan, cx: &Context) -> Done {
    let Plan { namespace, create } = plan;
    let Some(wanted) = create else {
        return Done {
            namespace,
            failure: None,
        };
    };
    let created = cx.cluster::<Namespace>().create(&PostParams::default(), &wanted).await;
    match created.doing("create", || fleet_runtime::write::describe(&wanted)) {
        Err(error) if !error.is_already_exists() => Done {
            namespace: None,
            failure: Some(error),
        },
        _ => Done {
            namespace,
            failure: None,
        },
    }
}
