//! Schemas: what Helm said of values is data; the number of agreeing answers may only rise.

use std::collections::BTreeMap;

use helm::chart::Chart;
use helm::schema;
use serde_json::Value;

/// Raise it when more answers agree; never lower it.
const AGREE: usize = 41;

const HEAD: &str = "values don't meet the specifications of the schema(s) in the following chart(s):\n";

fn answer(case: &Value) -> Option<String> {
    let files = BTreeMap::from([
        (
            "Chart.yaml".to_owned(),
            b"apiVersion: v2\nname: demo\nversion: 1.0.0\n".to_vec(),
        ),
        (
            "values.schema.json".to_owned(),
            case["schema"].as_str().unwrap().as_bytes().to_vec(),
        ),
    ]);
    let chart = Chart::from_files(files).unwrap();
    let error = schema::check(&chart, case["values"].as_object().unwrap())
        .err()?
        .to_string();
    Some(error.strip_prefix(HEAD).unwrap().to_owned())
}

#[test]
fn schemas_refuse_what_helm_refuses_in_its_words() {
    let cases = super::data("schemas.json");
    let cases = cases.as_array().unwrap();
    let mut agree = 0;
    let mut report = String::new();
    for case in cases {
        let (got, want) = (answer(case), case["error"].as_str());
        assert_eq!(got.is_some(), want.is_some(), "{case}: {got:?}");
        if got.as_deref() == want {
            agree += 1;
        } else {
            report += &format!(
                "{} {}\n  helm {want:?}\n  ours {got:?}\n",
                case["schema"], case["values"]
            );
        }
    }
    println!("{agree} of {} agree\n{report}", cases.len());
    assert!(agree >= AGREE, "only {agree} of {} agree\n{report}", cases.len());
}

/// Whether values meet a schema, or why not.
fn checked(schema: &str, values: &str) -> Result<(), String> {
    let files = [
        ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("values.schema.json", schema),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let chart = helm::chart::Chart::from_files(files.into()).unwrap();
    let values = helm::values::parse(values.as_bytes()).unwrap();
    helm::schema::check(&chart, &values).map_err(|error| error.to_string())
}

#[test]
fn a_schema_in_another_file_is_named_and_not_read() {
    let schema = r##"{"properties": {"b": {"$ref": "file:///two.json"},
        "a": {"allOf": [{"$ref": "#/properties"}, {"$ref": "file:///one.json#/x"}]}}}"##;
    let refused = checked(schema, "").unwrap_err();
    let wanted = "c:\nfailing loading \"file:///one.json\": other places than the schema itself are never read";
    assert!(refused.ends_with(wanted), "{refused}");
}

#[test]
fn what_a_schema_on_the_web_says_is_not_checked_but_everything_else_is() {
    let schema = r##"{"$defs": {"port": {"$id": "https://schemas.invalid/port.json", "type": "integer"}},
        "properties": {
            "image": {"$ref": "https://schemas.invalid/image.json#/definitions/image", "required": ["tag"]},
            "port": {"$ref": "https://schemas.invalid/port.json"}, "name": {"type": "string"}}}"##;
    assert_eq!(checked(schema, "image: {tag: 1}\nport: 2\nname: a\n"), Ok(()));
    let refused = checked(schema, "image: {}\nport: a\nname: 1\n").unwrap_err();
    for wanted in [
        "'/image': missing property 'tag'",
        "'/name': got number, want string",
        "'/port': got string, want integer",
    ] {
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[test]
fn what_lies_beside_a_schema_on_the_web_is_on_the_web_too() {
    let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema", "$id": "https://schemas.invalid/values.schema.json",
        "properties": {"pod": {"$ref": "schemas/pod.json"}, "name": {"$ref": "#/definitions/name"}},
        "definitions": {"name": {"type": "string"}}}"##;
    assert_eq!(checked(schema, "pod: 1\nname: a\n"), Ok(()));
    let refused = checked(schema, "pod: 1\nname: 1\n").unwrap_err();
    assert!(refused.contains("'/name': got number, want string"), "{refused}");
    // Without such a name it would be a file.
    let refused = checked(r#"{"properties": {"pod": {"$ref": "schemas/pod.json"}}}"#, "pod: 1\n").unwrap_err();
    assert!(refused.contains("failing loading \"schemas/pod.json\""), "{refused}");
}

#[test]
fn beside_a_reference_nothing_counts_in_old_drafts() {
    let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "https://schemas.invalid/all.json",
        "required": ["a"], "definitions": {"name": {"type": "string"}}}"##;
    assert_eq!(checked(schema, "{}"), Ok(()));
}
