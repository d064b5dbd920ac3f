//! Bytes that are no UTF-8 survive from where they are read to where they are encoded.

use std::rc::Rc;
use std::sync::Arc;

use gotemplate::object::Bytes;
use gotemplate::{Engine, Functions, Value, bytes, sprig};
use serde_json::json;

#[test]
fn a_picture_is_encoded_byte_by_byte() {
    let picture = [0x89, b'P', b'N', b'G', 0, 0xff, 0xfe, b'\n', 0xc3, 0xa9];
    let engine = Engine::new().functions(sprig::text());
    let show = |text: &str| {
        let data = json!({ "picture": bytes::text(&picture) });
        engine
            .render("t", text, &data)
            .unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(show("{{ .picture | b64enc }}"), "iVBORwD//grDqQ==");
    assert_eq!(show("{{ \"iVBORwD//grDqQ==\" | b64dec | eq .picture }}"), "true");
    assert_eq!(show("{{ len .picture }} {{ index .picture 0 }}"), "10 137");
    assert_eq!(show("{{ trunc 6 .picture | b64enc }}"), "iVBORwD/");
    assert_eq!(show("{{ printf \"%x\" .picture }}"), "89504e4700fffe0ac3a9");
    assert_eq!(show("{{ printf \"%q\" .picture }}"), r#""\x89PNG\x00\xff\xfe\né""#);
    assert_eq!(
        show("{{ list .picture | toJson | len }}"),
        show("{{ len (toJson (list .picture)) }}")
    );
    assert_eq!(
        show("{{ sha1sum .picture }}"),
        show("{{ \"iVBORwD//grDqQ==\" | b64dec | sha1sum }}")
    );
    // What is printed can be read as text.
    assert_eq!(show("{{ .picture }}"), "\u{fffd}PNG\0\u{fffd}\u{fffd}\n\u{e9}");
    assert_eq!(show("{{ trunc 1 \"\u{e9}\" }}{{ substr 1 2 \"\u{e9}\" }}"), "\u{e9}");
}

#[test]
fn bytes_are_printed_as_numbers() {
    let functions = Functions::new().with("raw", "", |_, _| {
        Ok(Value::Object(Rc::new(Bytes(Arc::new(vec![0, 9, 10, 99, 100, 255])))))
    });
    let engine = Engine::new().functions(functions);
    let show = |text: &str| engine.render("t", text, &json!({})).unwrap();
    assert_eq!(show("{{ raw }}"), "[0 9 10 99 100 255]");
    assert_eq!(
        show("{{ printf \"%v %3v\" raw raw }}"),
        "[0 9 10 99 100 255] [  0   9  10  99 100 255]"
    );
}

/// Bytes of all values, so many.
fn cycle(length: usize) -> Vec<u8> {
    (0..=255).rev().cycle().take(length).collect()
}

#[test]
fn a_long_file_is_printed_as_numbers() {
    let functions = Functions::new().with("cycle", "i", |_, args| match args {
        [Value::Int(length)] => Ok(Value::Object(Rc::new(Bytes(Arc::new(cycle(*length as usize)))))),
        other => panic!("{other:?}"),
    });
    let engine = Engine::new().functions(functions);
    for length in [0, 1, 1_023, 1_024, 1_025, 5_000] {
        let shown = engine.render("t", &format!("{{{{ cycle {length} }}}}"), &json!({}));
        let numbers: Vec<String> = cycle(length).iter().map(ToString::to_string).collect();
        assert_eq!(shown.unwrap(), format!("[{}]", numbers.join(" ")));
    }
}
