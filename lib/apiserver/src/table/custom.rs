//! Rows of custom resources: `additionalPrinterColumns`.

use kubeschema::jsonpath::Path;
use serde_json::Value;

use super::{Column, Row, heads, text};

/// The paths of the columns behind the name.
pub(super) struct Paths {
    columns: Vec<(String, Option<Path>)>,
}

/// Columns and paths of a version of a CRD.
pub(super) fn columns(version: &Value) -> (Vec<Column>, Paths) {
    let mut columns = heads("");
    let given = version["additionalPrinterColumns"]
        .as_array()
        .filter(|list| !list.is_empty());
    let Some(given) = given else {
        columns.extend(heads("Age:date").into_iter().skip(1));
        let path = Path::parse(".metadata.creationTimestamp").ok();
        return (
            columns,
            Paths {
                columns: vec![("date".to_owned(), path)],
            },
        );
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut paths = Vec::new();
    for column in given {
        columns.push(Column {
            name: text(&column["name"]),
            kind: text(&column["type"]),
            format: text(&column["format"]),
            description: text(&column["description"]),
            priority: column["priority"].as_i64().unwrap_or_default(),
        });
        paths.push((
            text(&column["type"]),
            column["jsonPath"].as_str().and_then(|path| Path::parse(path).ok()),
        ));
    }
    (columns, Paths { columns: paths })
}

impl Paths {
    pub(super) fn cells(&self, row: &Row<'_>) -> Vec<Value> {
        self.columns
            .iter()
            .map(|(kind, path)| cell(kind, path.as_ref(), row))
            .collect()
    }
}

fn cell(kind: &str, path: Option<&Path>, row: &Row<'_>) -> Value {
    let Some(value) = path.and_then(|path| path.find(row.object).into_iter().next()) else {
        return Value::Null;
    };
    match (kind, value) {
        ("string", value) => kubeschema::jsonpath::text(value).into(),
        ("integer", Value::Number(number)) => {
            #[expect(clippy::cast_possible_truncation, reason = "upstream cuts fractions off, too")]
            let whole = number.as_i64().or_else(|| number.as_f64().map(|float| float as i64));
            whole.into()
        }
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(time)) => text::since(time, row.now).into(),
        _ => Value::Null,
    }
}
