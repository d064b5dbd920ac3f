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

#[test]
fn a_schema_elsewhere_is_named_and_not_read() {
    let schema = r##"{"properties": {"b": {"$ref": "https://schemas.invalid/two.json"},
        "a": {"allOf": [{"$ref": "#/properties"}, {"$ref": "https://schemas.invalid/one.json#/x"}]}}}"##;
    let files = [
        ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("values.schema.json", schema),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let chart = helm::chart::Chart::from_files(files.into()).unwrap();
    let refused = helm::schema::check(&chart, &helm::values::Values::new()).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("c:\nfailing loading \"https://schemas.invalid/one.json\": other places than the schema itself are never read"),
        "{refused}"
    );
}
