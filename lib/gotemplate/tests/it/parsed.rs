//! A text that was parsed once is used by many machines.

use std::sync::Arc;

use gotemplate::{Engine, Functions, Value};
use serde_json::json;

fn printed(engine: &Engine<'_>, name: &str, parsed: &Arc<gotemplate::Parsed>) -> Result<String, gotemplate::Error> {
    engine.run(|machine| {
        machine.add(name, parsed)?;
        machine.execute(name, gotemplate::json::from_json(&json!({"a": "x"})))
    })
}

#[test]
fn it_is_known_under_any_name_in_any_thread() {
    let engine = Engine::new();
    let parsed = Arc::new(
        engine
            .parse("first", "{{ define \"t\" }}{{ .a }}{{ end }}{{ template \"t\" . }}")
            .unwrap(),
    );
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (engine, parsed) = (&engine, &parsed);
            scope.spawn(move || assert_eq!(printed(engine, name, parsed).unwrap(), "x"));
        }
    });
}

#[test]
fn errors_name_the_file_it_was_added_as() {
    let engine = Engine::new();
    let parsed = Arc::new(engine.parse("first", "\n  {{ .a.b }}").unwrap());
    let error = printed(&engine, "second", &parsed).unwrap_err().to_string();
    assert!(
        error.starts_with("template: second:2:7: executing \"second\" at <.a.b>"),
        "{error}"
    );
}

#[test]
fn an_engine_with_other_functions_reads_it_anew() {
    let plain = Engine::new();
    let parsed = Arc::new(plain.parse("page", "{{ len .a }}").unwrap());
    // The new function stands before all others, so every number means another one now.
    let more = Engine::new().functions(Functions::new().with("aaa", "", |_, _| Ok(Value::from("no"))));
    assert_eq!(printed(&more, "page", &parsed).unwrap(), "1");
    let same = Engine::new().functions(Functions::new().with("len", "a", |_, _| Ok(Value::from("own"))));
    assert_eq!(printed(&same, "page", &parsed).unwrap(), "own");
    let other = Engine::new().delims("<<", ">>");
    assert_eq!(printed(&other, "page", &parsed).unwrap(), "{{ len .a }}");
}

#[test]
fn a_text_that_defines_its_own_name_prints_once() {
    let engine = Engine::new();
    let blank = Arc::new(engine.parse("page", "{{ define \"page\" }}inner{{ end }} \n").unwrap());
    assert_eq!(printed(&engine, "page", &blank).unwrap(), "inner");
    let both = Arc::new(
        engine
            .parse("page", "{{ define \"page\" }}inner{{ end }}outer")
            .unwrap(),
    );
    assert_eq!(
        printed(&engine, "page", &both).unwrap_err().to_string(),
        "template: page:1: multiple definition of template \"page\""
    );
    assert_eq!(printed(&engine, "other", &both).unwrap(), "outer");
}
