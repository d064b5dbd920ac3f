//! Objects as rows of a table: what `kubectl get` prints.
//!
//! Mirrors upstream's server-side printers for the built-in kinds and `additionalPrinterColumns` for custom resources.
//! A printer reads an object's JSON and gives cells; it never fails, a missing field is shown as upstream shows it.

mod apps;
mod batch;
mod cluster;
mod core;
mod custom;
mod network;
mod pod;
mod policy;
mod storage;
mod text;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::registry::Resource;

/// Head of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    name: String,
    kind: String,
    format: String,
    description: String,
    /// 0 is always shown, 1 only in wide output.
    priority: i64,
}

/// How the objects of one resource become rows.
pub(crate) struct Printer {
    columns: Vec<Column>,
    /// Whether the first cell is the object's name.
    named: bool,
    cells: Cells,
}

enum Cells {
    Builtin(fn(&Row<'_>) -> Vec<Value>),
    Custom(custom::Paths),
}

/// An object to be printed, and now.
pub(crate) struct Row<'a> {
    pub(crate) object: &'a Value,
    pub(crate) now: Timestamp,
}

impl Printer {
    /// The printer of a resource.
    pub(crate) fn of(resource: &Resource) -> Self {
        if let Some(custom) = &resource.custom {
            let (columns, paths) = custom::columns(&custom.version);
            return Self {
                columns,
                named: true,
                cells: Cells::Custom(paths),
            };
        }
        let found = builtin(&resource.group, &resource.kind);
        let (columns, cells) = found.unwrap_or(("Created At:date", |row| {
            vec![row.get("/metadata/creationTimestamp").clone()]
        }));
        let mut columns = heads(columns);
        // Events show their name last, and only in wide output.
        let named = resource.kind != "Event";
        if !named {
            columns.rotate_left(1);
            if let Some(name) = columns.last_mut() {
                name.priority = 1;
            }
        }
        Self {
            columns,
            named,
            cells: Cells::Builtin(cells),
        }
    }

    /// `columnDefinitions`.
    pub(crate) fn columns(&self) -> Value {
        let column = |column: &Column| {
            json!({
                "name": column.name, "type": column.kind, "format": column.format, "description": column.description,
                "priority": column.priority,
            })
        };
        self.columns.iter().map(column).collect()
    }

    /// The cells of a row.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Value {
        let row = Row { object, now };
        let mut cells = if self.named {
            vec![storage::name(&row)]
        } else {
            Vec::new()
        };
        match &self.cells {
            Cells::Builtin(make) => cells.extend(make(&row)),
            Cells::Custom(paths) => cells.extend(paths.cells(&row)),
        }
        cells.into()
    }

    /// What a row says about itself beside its cells.
    pub(crate) fn conditions(&self, object: &Value) -> Option<Value> {
        if object["kind"] == "Pod" {
            pod::conditions(object)
        } else {
            None
        }
    }
}

impl<'a> Row<'a> {
    /// The value at a JSON pointer, null if there is none.
    fn get(&self, pointer: &str) -> &'a Value {
        const NULL: &Value = &Value::Null;
        self.object.pointer(pointer).unwrap_or(NULL)
    }

    fn text(&self, pointer: &str) -> &'a str {
        self.get(pointer).as_str().unwrap_or_default()
    }

    fn number(&self, pointer: &str) -> i64 {
        self.get(pointer).as_i64().unwrap_or_default()
    }

    fn list(&self, pointer: &str) -> &'a [Value] {
        self.get(pointer).as_array().map_or(&[], Vec::as_slice)
    }

    fn age(&self) -> Value {
        self.since("/metadata/creationTimestamp").into()
    }

    /// How long ago a time was, `<unknown>` without one.
    fn since(&self, pointer: &str) -> String {
        text::since(self.text(pointer), self.now)
    }
}

/// Columns from `NAME:TYPE:PRIORITY:FORMAT` separated by `|`; type `string`, priority 0 and the empty format may be left
/// out. The name comes first by itself.
fn heads(text: &str) -> Vec<Column> {
    let name = Column {
        name: "Name".into(),
        kind: "string".into(),
        format: "name".into(),
        description: String::new(),
        priority: 0,
    };
    let mut columns = vec![name];
    for part in text.split('|').filter(|part| !part.is_empty()) {
        let mut words = part.split(':');
        let name = words.next().unwrap_or_default().to_owned();
        let kind = words
            .next()
            .filter(|kind| !kind.is_empty())
            .unwrap_or("string")
            .to_owned();
        let priority = words.next().and_then(|text| text.parse().ok()).unwrap_or_default();
        let format = words.next().unwrap_or_default().to_owned();
        columns.push(Column {
            name,
            kind,
            format,
            description: String::new(),
            priority,
        });
    }
    columns
}

type Builtin = (&'static str, fn(&Row<'_>) -> Vec<Value>);

fn builtin(group: &str, kind: &str) -> Option<Builtin> {
    match group {
        "" => pod::printer(kind)
            .or_else(|| core::printer(kind))
            .or_else(|| storage::printer(kind)),
        "apps" => apps::printer(kind),
        "batch" => batch::printer(kind),
        "events.k8s.io" => core::printer(kind),
        "networking.k8s.io" | "discovery.k8s.io" => network::printer(kind),
        "storage.k8s.io" => storage::printer(kind),
        "policy"
        | "autoscaling"
        | "scheduling.k8s.io"
        | "rbac.authorization.k8s.io"
        | "admissionregistration.k8s.io" => policy::printer(kind),
        _ => cluster::printer(kind),
    }
}
