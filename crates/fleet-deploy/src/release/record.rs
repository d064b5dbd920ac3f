//! A revision's record through its life: made pending, then ended as deployed or failed. Every
//! change of the status goes through here and is stored at once.

use helm::release::{Info, Release, Status};

use crate::release::{Error, Ports, Target};
use crate::{postrender, store};

/// A new revision of the target, not stored yet.
pub(super) fn draft(ports: &Ports, target: &Target, revision: i64, before: Option<&Release>) -> Result<Release, Error> {
    let now = ports.stamp();
    let first = before.and_then(|before| before.info.first_deployed.clone());
    Ok(Release {
        name: target.name.clone(),
        namespace: target.namespace.clone(),
        version: revision,
        info: Info {
            first_deployed: Some(first.unwrap_or_else(|| now.clone())),
            last_deployed: Some(now),
            ..Info::default()
        },
        chart: target.chart.clone(),
        config: target.config.clone(),
        manifest: postrender::manifest(&target.documents)?,
        hooks: target.hooks.clone(),
        labels: before.map(|before| before.labels.clone()).unwrap_or_default(),
        apply_method: String::new(),
    })
}

/// Stores a new record as under way.
pub(super) async fn begin(
    ports: &Ports,
    record: &mut Release,
    status: Status,
    description: String,
) -> Result<(), Error> {
    record.info.status = status;
    record.info.description = description;
    Ok(store::create(&ports.cluster, record, (ports.now)()).await?)
}

/// Stores how it ended.
pub(super) async fn end(ports: &Ports, record: &mut Release, status: Status, description: String) -> Result<(), Error> {
    record.info.description = description;
    set(ports, record, status).await
}

/// Stores another status.
pub(super) async fn set(ports: &Ports, record: &mut Release, status: Status) -> Result<(), Error> {
    record.info.status = status;
    Ok(store::update(&ports.cluster, record, (ports.now)()).await?)
}
