//! Text and data in, text out.

use gotemplate::{Engine, sprig};
use serde_json::{Value, json};

fn values() -> Value {
    json!({
        "ClusterName": "east",
        "ClusterLabels": { "env": "prod", "replicas": "3" },
        "ClusterValues": { "size": 2, "big": 12_345_678, "list": ["a", "b"], "none": null },
    })
}

fn check(text: &str, expected: &str) {
    let engine = Engine::new()
        .delims("${", "}")
        .missing_key_error()
        .functions(sprig::text());
    let got = engine
        .render("values", text, &values())
        .unwrap_or_else(|error| format!("error: {error}"));
    assert_eq!(got, expected, "{text}");
}

#[test]
fn other_delimiters_and_sprig_work_on_plain_data() {
    check("name: ${ .ClusterName }", "name: east");
    check("n: ${ .ClusterLabels.replicas | int | add 1 }", "n: 4");
    check(
        "n: ${ .ClusterValues.size } ${ .ClusterValues.big }",
        "n: 2 1.2345678e+07",
    );
    check("${ if eq .ClusterLabels.env \"prod\" }a${ else }b${ end }", "a");
    check("${ range .ClusterValues.list }${ . },${ end }", "a,b,");
    check("${ get .ClusterLabels \"env\" | upper | quote }", "\"PROD\"");
    check("${ toJson .ClusterLabels }", r#"{"env":"prod","replicas":"3"}"#);
    check("{{ .ClusterName }}", "{{ .ClusterName }}");
    check("$ {x} $${ .ClusterName }", "$ {x} $east");
    check(
        "${ .X | }",
        "error: template: values:1:3: executing \"values\" at <.X>: map has no entry for key \"X\"",
    );
}

#[test]
fn a_missing_key_is_an_error_that_says_where() {
    check(
        "a: 1\nb: ${ .ClusterLabels.zone }",
        "error: template: values:2:20: executing \"values\" at <.ClusterLabels.zone>: map has no entry for key \"zone\"",
    );
    check("${ .ClusterValues.none }", "<no value>");
    check("${ get .ClusterLabels \"zone\" }", "");
    check("${ hasKey .ClusterLabels \"zone\" }", "false");
}

#[test]
fn broken_templates_are_refused_with_their_line() {
    check("\n${ .a", "error: template: values:2: unclosed action");
    check("${ nope }", "error: template: values:1: function \"nope\" not defined");
    check(
        "${ env \"HOME\" }",
        "error: template: values:1: function \"env\" not defined",
    );
    check(
        "${ fail \"no\" }",
        "error: template: values:1:3: executing \"values\" at <fail \"no\">: error calling fail: no",
    );
}
