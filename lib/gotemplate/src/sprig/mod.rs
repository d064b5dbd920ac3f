//! The functions of the sprig library (3.3), as template functions.
//!
//! Left out: `env` and `expandenv` (a template must not read the environment) and `getHostByName` (nor the network).
//! A function that fails says so in sprig's or Go's words.

mod crypto;
mod date;
mod decimal;
mod default;
mod dict;
mod encode;
mod layout;
mod list;
mod math;
mod number;
pub mod path;
mod pattern;
mod random;
mod re2;
mod text;
mod url;
mod version;

use std::sync::OnceLock;

use crate::function::Functions;
use crate::print;
use crate::value::{Element, Value};

pub use self::dict::{merge, merge_over};

/// All functions of sprig's text table, without those that read the environment or the network.
pub fn text() -> Functions<'static> {
    static TEXT: OnceLock<Functions<'static>> = OnceLock::new();
    TEXT.get_or_init(made).clone()
}

fn made() -> Functions<'static> {
    [
        default::TABLE,
        text::TABLE,
        list::TABLE,
        dict::TABLE,
        math::TABLE,
        encode::TABLE,
        pattern::TABLE,
        version::TABLE,
        url::TABLE,
        path::TABLE,
        date::TABLE,
        random::TABLE,
    ]
    .into_iter()
    .fold(crypto::functions(), |all, table| all.and(Functions::table(table)))
}

/// The argument at `index`; the machine has counted them before the call.
fn any(args: &[Value], index: usize) -> &Value {
    args.get(index).unwrap_or(&Value::Nil)
}

/// The string argument at `index`.
fn string(args: &[Value], index: usize) -> &str {
    any(args, index).as_str().unwrap_or("")
}

/// The integer argument at `index`.
fn int(args: &[Value], index: usize) -> i64 {
    any(args, index).as_integer().unwrap_or(0)
}

/// The arguments from `index` on.
fn rest(args: &[Value], index: usize) -> &[Value] {
    args.get(index..).unwrap_or(&[])
}

/// A value's text: strings as they are, everything else as `%v`.
pub fn text_of(value: &Value) -> String {
    match value {
        // A formatter would take longer than the copy.
        Value::Str(text) => text.as_str().to_owned(),
        Value::Missing | Value::Nil => "<nil>".into(),
        Value::List(list) if list.element() == Element::Byte => {
            let bytes: Vec<u8> = list
                .to_vec()
                .iter()
                .filter_map(|item| u8::try_from(item.as_integer()?).ok())
                .collect();
            crate::bytes::text(&bytes)
        }
        Value::Object(object) if object.bytes().is_some() => crate::bytes::text(object.bytes().unwrap_or_default()),
        other => print::shown_up_to(other, 8 << 20),
    }
}
