//! `metadata.managedFields` ↔ entries: who owns what, since when, through which sub-resource.

use serde_json::{Value, json};

use super::set::Set;

/// Updaters beyond this number share an entry.
const MAXIMUM_UPDATERS: usize = 10;
/// The name of the shared entry.
const ANCIENT: &str = "ancient-changes";

/// How a manager wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Anything else.
    Update,
}

/// One manager's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the manager.
    pub manager: String,
    /// How it wrote.
    pub operation: Operation,
    /// Version its fields are spelled in.
    pub api_version: String,
    /// Sub-resource it wrote through; empty for the object itself.
    pub subresource: String,
    /// When it last changed something, RFC 3339.
    pub time: Option<String>,
    /// What it owns.
    pub set: Set,
}

impl Entry {
    /// Entries of one manager are one entry, by version if it updates.
    pub(super) fn same(&self, other: &Entry) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }

    /// What upstream sorts managers by.
    pub(super) fn identity(&self) -> String {
        let mut text = format!("{{\"manager\":{}", json!(self.manager));
        match self.operation {
            Operation::Apply => text.push_str(",\"operation\":\"Apply\""),
            Operation::Update => {
                text.push_str(&format!(
                    ",\"operation\":\"Update\",\"apiVersion\":{}",
                    json!(self.api_version)
                ));
            }
        }
        if !self.subresource.is_empty() {
            text.push_str(&format!(",\"subresource\":{}", json!(self.subresource)));
        }
        text + "}"
    }

    fn write(&self) -> Value {
        let mut entry = json!({
            "apiVersion": self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.set.to_fields_v1(),
            "operation": if self.operation == Operation::Apply { "Apply" } else { "Update" },
        });
        for (key, value) in [
            ("manager", Some(&self.manager)),
            ("subresource", Some(&self.subresource)),
            ("time", self.time.as_ref()),
        ] {
            if let Some(text) = value.filter(|text| !text.is_empty()) {
                entry[key] = json!(text);
            }
        }
        entry
    }
}

/// Reads the entries of an object.
///
/// # Errors
/// Upstream's words for the first entry that is malformed.
pub fn read_entries(object: &Value) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let list = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    for (position, item) in list.into_iter().flatten().enumerate() {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let operation = match item["operation"].as_str() {
            Some("Apply") => Operation::Apply,
            Some("Update") => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        match item["fieldsType"].as_str() {
            Some("FieldsV1") => {}
            None | Some("") => return Err(format!("missing fieldsType in managed fields entry {position}")),
            Some(other) => {
                return Err(format!(
                    "invalid fieldsType {other:?} in managed fields entry {position}"
                ));
            }
        }
        let entry = Entry {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: item["time"].as_str().map(str::to_owned),
            set: Set::from_fields_v1(&item["fieldsV1"]),
        };
        match entries.iter_mut().find(|known| known.same(&entry)) {
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
    }
    Ok(entries)
}

/// Whether the object asks to forget all managers: an empty list, or one empty entry.
pub(super) fn asks_reset(object: &Value) -> bool {
    match object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([]) => true,
        Some([one]) => one.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    }
}

/// Writes the entries into an object, sorted as upstream sorts them.
pub(super) fn write_entries(object: &mut Value, mut entries: Vec<Entry>) {
    entries.sort_by(|a, b| {
        (a.operation, &a.time, &a.manager, &a.api_version, &a.subresource).cmp(&(
            b.operation,
            &b.time,
            &b.manager,
            &b.api_version,
            &b.subresource,
        ))
    });
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if entries.is_empty() {
        metadata.remove("managedFields");
    } else {
        metadata.insert("managedFields".to_owned(), entries.iter().map(Entry::write).collect());
    }
}

/// Joins the oldest updaters of each version until few enough are left.
pub(super) fn cap(entries: &mut Vec<Entry>) {
    let updaters = |entries: &[Entry]| entries.iter().filter(|e| e.operation == Operation::Update).count();
    if updaters(entries) <= MAXIMUM_UPDATERS {
        return;
    }
    let mut oldest: Vec<Entry> = entries
        .iter()
        .filter(|e| e.operation == Operation::Update)
        .cloned()
        .collect();
    oldest.sort_by_key(|entry| (entry.time.clone(), entry.identity()));
    let mut first: Vec<Entry> = Vec::new();
    for entry in oldest {
        if updaters(entries) <= MAXIMUM_UPDATERS {
            return;
        }
        let Some(start) = first.iter().find(|known| known.api_version == entry.api_version) else {
            first.push(entry);
            continue;
        };
        let is_bucket =
            |e: &Entry| e.manager == ANCIENT && e.api_version == entry.api_version && e.subresource.is_empty();
        if !entries.iter().any(is_bucket)
            && let Some(renamed) = entries.iter_mut().find(|e| e.same(start))
        {
            ANCIENT.clone_into(&mut renamed.manager);
            renamed.subresource.clear();
        }
        if let Some(bucket) = entries.iter_mut().find(|e| is_bucket(e)) {
            bucket.set = bucket.set.union(&entry.set);
            bucket.time.clone_from(&entry.time);
        }
        entries.retain(|e| !e.same(&entry));
    }
}

/// Gives `new` the times of `old`'s managedFields if nothing but those times differs between the two objects, so that
/// a write that changes nothing is seen to change nothing.
pub fn keep_times(old: &Value, new: &mut Value) {
    let timeless = |object: &Value| {
        let mut object = object.clone();
        let list = object
            .pointer_mut("/metadata/managedFields")
            .and_then(Value::as_array_mut);
        for entry in list.into_iter().flatten() {
            if let Some(entry) = entry.as_object_mut() {
                entry.remove("time");
            }
        }
        if let Some(list) = object
            .pointer_mut("/metadata/managedFields")
            .and_then(Value::as_array_mut)
        {
            list.sort_by_key(std::string::ToString::to_string);
        }
        object
    };
    if timeless(old) == timeless(new)
        && let (Some(times), Some(list)) = (
            old.pointer("/metadata/managedFields"),
            new.pointer_mut("/metadata/managedFields"),
        )
    {
        list.clone_from(times);
    }
}
