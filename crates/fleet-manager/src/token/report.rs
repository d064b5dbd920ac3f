//! Says in a token's status where its values are and when it ends.

use fleet_api::ClusterRegistrationToken;
use fleet_runtime::{Context, Error, write};

use super::act::Done;
use crate::shell::namespace;

pub(super) async fn report(token: &ClusterRegistrationToken, done: &Done, cx: &Context) -> Result<(), Error> {
    match done {
        Done::Left | Done::Expired(_) => Ok(()),
        Done::Kept { status, .. } => {
            let api = cx.namespaced::<ClusterRegistrationToken>(namespace(token));
            write::status(&api, token, token.status.as_ref(), status)
                .await
                .map(drop)
        }
    }
}
