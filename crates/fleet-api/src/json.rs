//! JSON as Go programs write Fleet's objects. Hashes are taken over such text, so escaping and the
//! printing of numbers are part of the wire format. Field order is that of the Rust struct; map
//! keys are sorted because all maps here are ordered. Numbers of values were float64 before they
//! were written.

use serde::Serialize;

/// The value without a final newline, like `json.Marshal`.
#[must_use]
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    goyaml::json::to_string_of_floats(value)
}

/// The value with a final newline, like a `json.Encoder`.
#[must_use]
pub fn encode<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = to_string(value);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_gos() {
        let value = serde_json::json!({"a": "<&>\u{2028}\u{1}\u{8}\"", "b": 1.0, "c": 1e21, "d": 1e-7, "e": 1.5, "f": 9007199254740993_i64, "g": 0.0});
        assert_eq!(
            to_string(&value),
            r#"{"a":"\u003c\u0026\u003e\u2028\u0001\b\"","b":1,"c":1e+21,"d":1e-7,"e":1.5,"f":9007199254740992,"g":0}"#
        );
    }
}
