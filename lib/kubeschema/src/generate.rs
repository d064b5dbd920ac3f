//! Codegen: the documents a real API server serves → the table of built-in kinds.
//!
//! Input are OpenAPI v3 documents, plain discovery documents and what [`generate/main.go`] prints about zero values;
//! output is one JSON document, one line per type, descriptions left out. Never run by the product itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What the table is made of.
#[derive(Debug, Default)]
pub struct Documents {
    /// OpenAPI v3 documents, as served below `/openapi/v3/`.
    pub openapi: Vec<Value>,
    /// Plain discovery: group and version → its APIResourceList.
    pub resources: Map<String, Value>,
    /// The APIGroupList served at `/apis`.
    pub groups: Value,
    /// How Go treats zero values: type → field → flags.
    pub zeroes: Value,
}

/// Why no table can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A schema uses something the table cannot express.
    #[error("cannot express {field} of {name}: {schema}")]
    Schema {
        /// The type.
        name: String,
        /// The field.
        field: String,
        /// Its schema.
        schema: String,
    },
    /// A document lacks what it must have.
    #[error("document has no {0}")]
    Missing(&'static str),
}

/// Makes the table's text.
///
/// # Errors
/// When a schema or a document is of an unexpected shape.
pub fn table(documents: &Documents) -> Result<String, Error> {
    let mut schemas = BTreeMap::new();
    for document in &documents.openapi {
        if let Some(found) = document.pointer("/components/schemas").and_then(Value::as_object) {
            schemas.extend(found.iter());
        }
    }
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    let mut text = String::from("{\"types\":{\n");
    for (position, (name, schema)) in schemas.iter().enumerate() {
        for id in schema["x-kubernetes-group-version-kind"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let part = |key: &str| id[key].as_str().unwrap_or_default();
            // Generic types such as DeleteOptions are listed for every group; they are no kind of their own.
            if schema["x-kubernetes-group-version-kind"]
                .as_array()
                .is_some_and(|all| all.len() == 1)
            {
                kinds.insert(
                    format!("{}/{}/{}", part("group"), part("version"), part("kind")),
                    (*name).clone(),
                );
            }
        }
        let entry = type_entry(name, schema, &documents.zeroes[name.as_str()])?;
        let comma = if position + 1 < schemas.len() { "," } else { "" };
        text.push_str(&format!("{}:{entry}{comma}\n", json!(name)));
    }
    text.push_str("},\"versions\":[\n");
    let versions = versions(documents)?;
    for (position, (group_version, list)) in versions.iter().enumerate() {
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        let mut resources = list["resources"]
            .as_array()
            .cloned()
            .ok_or(Error::Missing("resources"))?;
        for resource in &mut resources {
            let own = |key: &str, default: &str| resource[key].as_str().unwrap_or(default).to_owned();
            let id = format!(
                "{}/{}/{}",
                own("group", group),
                own("version", version),
                own("kind", "")
            );
            if let Some(name) = kinds.get(&id) {
                resource["type"] = json!(name);
            }
        }
        let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
        let comma = if position + 1 < versions.len() { "," } else { "" };
        text.push_str(&format!(
            "{{\"group\":{},\"version\":{},\"resources\":[\n{}\n]}}{comma}\n",
            json!(group),
            json!(version),
            lines.join(",\n")
        ));
    }
    text.push_str("]}\n");
    Ok(text)
}

/// Group and version → resources: the core group first, then the order of the group list.
fn versions(documents: &Documents) -> Result<Vec<(String, &Value)>, Error> {
    let mut names = vec!["v1".to_owned()];
    for group in documents.groups["groups"].as_array().ok_or(Error::Missing("groups"))? {
        for version in group["versions"].as_array().into_iter().flatten() {
            names.push(version["groupVersion"].as_str().unwrap_or_default().to_owned());
        }
    }
    names
        .into_iter()
        .map(|name| {
            documents
                .resources
                .get(&name)
                .map(|list| (name, list))
                .ok_or(Error::Missing("resource list"))
        })
        .collect()
}

fn type_entry(name: &str, schema: &Value, zeroes: &Value) -> Result<Value, Error> {
    let short = name.rsplit('.').next().unwrap_or(name);
    let alias = match short {
        "Quantity" => Some("q"),
        "Time" => Some("t"),
        "MicroTime" => Some("u"),
        "IntOrString" => Some("x"),
        _ => None,
    };
    if let Some(alias) = alias {
        return Ok(json!({ "alias": alias }));
    }
    let Some(properties) = schema["properties"].as_object() else {
        // A struct without fields, as opposed to free-form JSON.
        let empty_struct = zeroes.as_object().is_some_and(Map::is_empty) && short.ends_with("Status");
        return Ok(if empty_struct {
            json!({"fields": {}})
        } else {
            json!({"alias": "a"})
        });
    };
    let mut fields = Map::new();
    for (field, property) in properties {
        let cannot = || Error::Schema {
            name: name.to_owned(),
            field: field.clone(),
            schema: property.to_string(),
        };
        let mut entry = Map::new();
        entry.insert("t".to_owned(), json!(expression(property).ok_or_else(cannot)?));
        if let Some(flags) = zeroes[field.as_str()].as_str().filter(|f| !f.is_empty()) {
            entry.insert("g".to_owned(), json!(flags));
        }
        let default = &property["default"];
        let zero = [json!(""), json!(0), json!(false)].contains(default);
        let flags = zeroes[field.as_str()].as_str().unwrap_or_default();
        if zero && !flags.contains('p') {
            // That a field left out when it is zero defaults to zero changes nothing, but is in the schema.
            if flags.contains('o') {
                entry.insert("z".to_owned(), json!(true));
            }
        } else if !matches!(default, Value::Null | Value::Object(_)) {
            entry.insert("d".to_owned(), default.clone());
        }
        for (short, long) in [
            ("l", "x-kubernetes-list-type"),
            ("k", "x-kubernetes-list-map-keys"),
            ("m", "x-kubernetes-patch-merge-key"),
            ("p", "x-kubernetes-patch-strategy"),
            ("a", "x-kubernetes-map-type"),
            ("e", "enum"),
        ] {
            if let Some(value) = property.get(long) {
                entry.insert(short.to_owned(), value.clone());
            }
        }
        if let Some(choices) = property
            .pointer("/items/enum")
            .or_else(|| property.pointer("/additionalProperties/enum"))
        {
            entry.insert("i".to_owned(), choices.clone());
        }
        fields.insert(field.clone(), Value::Object(entry));
    }
    let mut entry = json!({ "fields": fields });
    for (short, long) in [("required", "required"), ("unions", "x-kubernetes-unions")] {
        if let Some(value) = schema.get(long) {
            entry[short] = value.clone();
        }
    }
    if schema["x-kubernetes-map-type"] == "atomic" {
        entry["atomic"] = json!(true);
    }
    Ok(entry)
}

/// The short form of a type: `s` text, `b` boolean, `i` and `l` integers of 32 and 64 bits, `n` number, `y` bytes,
/// `a` anything, `[]T` list, `{}T` map, `@name` another type.
fn expression(schema: &Value) -> Option<String> {
    if let Some(reference) = schema.pointer("/allOf/0/$ref").or_else(|| schema.get("$ref")) {
        return Some(format!("@{}", reference.as_str()?.rsplit('/').next()?));
    }
    let format = schema["format"].as_str();
    Some(match schema["type"].as_str() {
        Some("string") if format == Some("byte") => "y".to_owned(),
        Some("string") if format == Some("date-time") => "t".to_owned(),
        Some("string") => "s".to_owned(),
        Some("boolean") => "b".to_owned(),
        Some("integer") if format == Some("int64") => "l".to_owned(),
        Some("integer") => "i".to_owned(),
        Some("number") => "n".to_owned(),
        Some("array") => format!("[]{}", expression(&schema["items"])?),
        Some("object") if schema.get("additionalProperties").is_some() => {
            format!("{{}}{}", expression(&schema["additionalProperties"])?)
        }
        Some("object") | None => "a".to_owned(),
        Some(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shortened_and_descriptions_dropped() {
        let documents = Documents {
            openapi: vec![json!({"components": {"schemas": {"io.x.Thing": {
                "description": "gone",
                "required": ["ports"],
                "properties": {
                    "ports": {"type": "array", "description": "gone", "items": {"allOf": [{"$ref": "#/components/schemas/io.x.Port"}]},
                        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"]},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "protocol": {"type": "string", "default": "TCP"},
                },
                "x-kubernetes-group-version-kind": [{"group": "x.io", "version": "v1", "kind": "Thing"}],
            }}}})],
            resources: json!({
                "v1": {"resources": []},
                "x.io/v1": {"resources": [{"name": "things", "kind": "Thing", "namespaced": true, "verbs": ["get"]}]},
            })
            .as_object()
            .cloned()
            .unwrap(),
            groups: json!({"groups": [{"versions": [{"groupVersion": "x.io/v1"}]}]}),
            zeroes: json!({"io.x.Thing": {"ports": "c", "labels": "co"}}),
        };
        let made: Value = serde_json::from_str(&table(&documents).unwrap()).unwrap();
        assert_eq!(
            made["types"]["io.x.Thing"]["fields"],
            json!({
                "ports": {"t": "[]@io.x.Port", "g": "c", "l": "map", "k": ["port"]},
                "labels": {"t": "{}s", "g": "co"},
                "protocol": {"t": "s", "d": "TCP"},
            })
        );
        assert_eq!(made["versions"][1]["resources"][0]["type"], "io.x.Thing");
    }

    #[test]
    fn a_missing_resource_list_is_an_error() {
        let documents = Documents {
            groups: json!({"groups": []}),
            ..Documents::default()
        };
        assert!(matches!(table(&documents), Err(Error::Missing("resource list"))));
    }
}
