//! The definitions of a chart's `crds/`: written once, before anything that may need them is
//! rendered or applied. One that is there is never changed and never removed.

use serde_json::Value;

use crate::object::ObjectKey;
use crate::release::{Error, Ports, wait};

/// Writes the definitions that are not there yet, and waits until all are served.
pub(crate) async fn define(ports: &Ports, definitions: &[Value]) -> Result<(), Error> {
    for definition in definitions {
        let key = ObjectKey::of(definition);
        let failed = |source| Error::Definition {
            name: key.name.clone(),
            source,
        };
        if ports.cluster.get(&key).await.map_err(failed)?.is_none() {
            ports.cluster.apply(definition).await.map_err(failed)?;
        }
        wait::established(ports, &key).await?;
    }
    Ok(())
}
