//! Server-side apply and managedFields.

use serde_json::Value;

use crate::registry::Resource;
use crate::status::Status;

/// Who writes.
#[derive(Debug, Clone)]
pub struct Manager {
    /// Field manager's name.
    pub name: String,
    /// Subresource written through, empty for none.
    pub subresource: String,
    /// Time of the write, `2026-01-02T03:04:05Z`.
    pub time: String,
}

/// Sets `new.metadata.managedFields` after an update (anything but apply) that made `new` out of `live`.
pub fn update(_resource: &Resource, _live: Option<&Value>, _new: &mut Value, _manager: &Manager) {}

/// The object that applying `applied` over `live` gives, managedFields included.
///
/// # Errors
/// 409 with one cause per conflicting field unless forced; 400 and 422 for bad input.
pub fn apply(
    _resource: &Resource,
    _live: Option<&Value>,
    applied: &Value,
    _manager: &Manager,
    _force: bool,
) -> Result<Value, Box<Status>> {
    Ok(applied.clone())
}
