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
        // The first path that cannot be read ends the columns.
        let Ok(path) = Path::parse(column["jsonPath"].as_str().unwrap_or_default()) else {
            break;
        };
        columns.push(Column {
            name: text(&column["name"]),
            kind: text(&column["type"]),
            format: text(&column["format"]),
            description: text(&column["description"]),
            priority: column["priority"].as_i64().unwrap_or_default(),
        });
        paths.push((text(&column["type"]), Some(path)));
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
        ("string", Value::Null) => "<no value>".into(),
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn shown(columns_of: &[(&str, &str)], object: &Value) -> Vec<Value> {
        let given: Vec<Value> = columns_of
            .iter()
            .map(|(kind, path)| json!({"name": path, "type": kind, "jsonPath": path}))
            .collect();
        let (_, paths) = columns(&json!({ "additionalPrinterColumns": given }));
        let now = Timestamp::UNIX_EPOCH;
        paths.cells(&Row { object, now })
    }

    #[test]
    fn empty_brackets_show_the_first_item() {
        let object = json!({"http": [{"host": "a"}, {"host": "b"}], "none": []});
        let columns = [("string", ".http[].host"), ("string", ".none[].host")];
        assert_eq!(shown(&columns, &object), [json!("a"), Value::Null]);
    }

    #[test]
    fn a_path_that_cannot_be_read_ends_the_columns() {
        let columns = [("string", ".a"), ("string", ".b["), ("string", ".c")];
        assert_eq!(shown(&columns, &json!({"a": 1, "b": 2, "c": 3})), [json!("1")]);
    }

    #[test]
    fn null_is_no_value() {
        assert_eq!(shown(&[("string", ".a")], &json!({ "a": null })), [json!("<no value>")]);
    }
}
