//! Bytes that are no UTF-8 survive from where they are read to where they are encoded.

use gotemplate::{Engine, bytes, sprig};
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
