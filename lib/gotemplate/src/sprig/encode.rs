//! Encodings, checksums and JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::Digest as _;

use super::{any, string};
use crate::bytes;
use crate::failure::Failure;
use crate::function::Native;
use crate::json;
use crate::machine::Machine;
use crate::value::Value;

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("b64enc", "s", |_, args| {
        Ok(STANDARD.encode(bytes::of(string(args, 0))).into())
    }),
    ("b64dec", "s", |_, args| {
        Ok(match base64_decoded(string(args, 0)) {
            Ok(decoded) => bytes::text(&decoded).into(),
            Err(error) => error.into(),
        })
    }),
    ("b32enc", "s", |_, args| Ok(base32(&bytes::of(string(args, 0))).into())),
    ("b32dec", "s", |_, args| Ok(base32_decoded(string(args, 0)).into())),
    ("sha1sum", "s", |machine, args| {
        summed(machine, args)?;
        Ok(hex::encode(sha1::Sha1::digest(bytes::of(string(args, 0)))).into())
    }),
    ("sha256sum", "s", |machine, args| {
        summed(machine, args)?;
        Ok(hex::encode(sha2::Sha256::digest(bytes::of(string(args, 0)))).into())
    }),
    ("sha512sum", "s", |machine, args| {
        summed(machine, args)?;
        Ok(hex::encode(sha2::Sha512::digest(bytes::of(string(args, 0)))).into())
    }),
    ("adler32sum", "s", |machine, args| {
        summed(machine, args)?;
        Ok(adler32(&bytes::of(string(args, 0))).to_string().into())
    }),
    ("fromJson", "s", |machine, args| {
        Ok(Failure::forgive(parse(machine, string(args, 0)).map(Some))?.unwrap_or(Value::Nil))
    }),
    ("mustFromJson", "s", |machine, args| parse(machine, string(args, 0))),
    ("toJson", "a", |machine, args| {
        Ok(Failure::forgive(to_json(machine, any(args, 0)))?.into())
    }),
    ("mustToJson", "a", |machine, args| {
        Ok(to_json(machine, any(args, 0))?.into())
    }),
    ("toPrettyJson", "a", |machine, args| {
        Ok(Failure::forgive(to_pretty_json(machine, any(args, 0)))?.into())
    }),
    ("mustToPrettyJson", "a", |machine, args| {
        Ok(to_pretty_json(machine, any(args, 0))?.into())
    }),
    ("toRawJson", "a", |machine, args| {
        Ok(Failure::forgive(to_raw_json(machine, any(args, 0)))?.into())
    }),
    ("mustToRawJson", "a", |machine, args| {
        Ok(to_raw_json(machine, any(args, 0))?.into())
    }),
];

/// What base64 text stands for; line breaks do not count. Errors are in Go's words.
pub(super) fn base64_decoded(text: &str) -> Result<Vec<u8>, String> {
    let decoded = if text.contains(['\r', '\n']) {
        STANDARD.decode(text.replace(['\r', '\n'], ""))
    } else {
        STANDARD.decode(text)
    };
    decoded.map_err(|_| format!("illegal base64 data at input byte {}", base64_error_at(text)))
}

/// A checksum takes longer than a copy.
fn summed(machine: &mut Machine<'_>, args: &[Value]) -> Result<(), Failure> {
    machine.work(string(args, 0).len() / 8)
}

fn base64_error_at(text: &str) -> usize {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.bytes().position(|byte| !valid(byte)).unwrap_or(text.len() / 4 * 4)
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut block = [0u8; 8];
        block[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(block);
        let letters = (chunk.len() * 8).div_ceil(5);
        for index in 0..8 {
            if index < letters {
                let at = (bits >> (35 - index * 5)) & 31;
                out.push(char::from(BASE32[usize::try_from(at).unwrap_or(0)]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

fn base32_decoded(text: &str) -> String {
    let mut bits = 0u32;
    let mut count = 0;
    let mut decoded = Vec::new();
    for (at, byte) in text.trim_end_matches('=').bytes().enumerate() {
        let Some(value) = BASE32.iter().position(|letter| *letter == byte) else {
            return format!("illegal base32 data at input byte {at}");
        };
        bits = (bits << 5) | u32::try_from(value).unwrap_or(0);
        count += 5;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from((bits >> count) & 0xff).unwrap_or(0));
            bits &= (1 << count) - 1;
        }
    }
    bytes::text(&decoded)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1u32, 0u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high << 16) | low
}

fn parse(machine: &mut Machine<'_>, text: &str) -> Result<Value, Failure> {
    json::taken(machine, &json::parse(text).map_err(Failure::new)?)
}

/// Compact JSON as Go writes it: `<`, `>` and `&` escaped.
pub(crate) fn to_json(machine: &mut Machine<'_>, value: &Value) -> Result<String, Failure> {
    Ok(goyaml::json::to_string(&json::given(machine, value)?))
}

fn to_raw_json(machine: &mut Machine<'_>, value: &Value) -> Result<String, Failure> {
    let text = to_json(machine, value)?;
    Ok(text
        .replace("\\u003c", "<")
        .replace("\\u003e", ">")
        .replace("\\u0026", "&"))
}

/// Indented with two spaces.
fn to_pretty_json(machine: &mut Machine<'_>, value: &Value) -> Result<String, Failure> {
    let mut out = String::new();
    pretty(&json::given(machine, value)?, 0, &mut out);
    Ok(out)
}

fn pretty(value: &serde_json::Value, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        serde_json::Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                pretty(item, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        serde_json::Value::Object(entries) if !entries.is_empty() => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&goyaml::json::to_string(key));
                out.push_str(": ");
                pretty(item, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        other => out.push_str(&goyaml::json::to_string(other)),
    }
}
