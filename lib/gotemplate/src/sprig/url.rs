//! URLs, taken apart and put together.

use super::{any, string, text_of};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::{Map, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[("urlParse", "s", parse), ("urlJoin", "m", join)];

fn parse(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let url = string(args, 0);
    let wrong = |why: String| {
        let url = crate::quote::quote(url);
        Err(Failure::new(format!("unable to parse url: parse {url}: {why}")))
    };
    if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return wrong("net/url: invalid control character in URL".into());
    }
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, tail)) if is_scheme(scheme) => (scheme.to_lowercase(), tail),
        Some(("", _)) => {
            return wrong("missing protocol scheme".into());
        }
        _ => (String::new(), rest),
    };
    let map = Map::new();
    let (authority, path) = match rest.strip_prefix("//") {
        Some(tail) => tail.find('/').map_or((tail, ""), |at| tail.split_at(at)),
        None => ("", rest),
    };
    let opaque = !scheme.is_empty() && authority.is_empty() && !path.starts_with('/');
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let hostname = match host.strip_prefix('[').and_then(|tail| tail.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    if let Some(why) = mistake(host, if opaque { "" } else { path }).or_else(|| mistake("", fragment)) {
        return wrong(why);
    }
    map.insert("scheme", scheme);
    map.insert("host", host);
    map.insert("hostname", hostname);
    map.insert("path", if opaque { String::new() } else { unescape(path) });
    map.insert("query", query);
    map.insert("opaque", if opaque { path } else { "" });
    map.insert("fragment", unescape(fragment));
    map.insert("userinfo", user);
    Ok(map.into())
}

/// What is wrong with a host and a path.
fn mistake(host: &str, path: &str) -> Option<String> {
    let port = match host.rsplit_once(']') {
        Some((_, port)) => port,
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    let digits = port.strip_prefix(':').unwrap_or_default();
    if digits.bytes().any(|byte| !byte.is_ascii_digit()) {
        return Some(format!("invalid port {} after host", crate::quote::quote(port)));
    }
    if let Some(bad) = host.chars().find(|character| " \"<>\\^`{|}".contains(*character)) {
        return Some(format!(
            "invalid character {} in host name",
            crate::quote::quote(&bad.to_string())
        ));
    }
    path.split('%').skip(1).find_map(|escape| {
        let hex = escape.as_bytes().get(..2);
        if hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
            return None;
        }
        let shown: String = std::iter::once('%').chain(escape.chars().take(2)).collect();
        Some(format!("invalid URL escape {}", crate::quote::quote(&shown)))
    })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = if *first == b'%' {
            tail.get(..2).and_then(|hex| hex::decode(hex).ok())
        } else {
            None
        };
        match code {
            Some(code) => {
                bytes.extend(code);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn join(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let Value::Map(parts) = any(args, 0) else {
        return Ok("".into());
    };
    let part = |name: &str| {
        parts
            .get(name)
            .filter(|value| !value.is_nil())
            .map(|value| text_of(&value))
            .unwrap_or_default()
    };
    for name in ["scheme", "opaque", "host", "path", "query", "fragment", "userinfo"] {
        if let Some(other) = parts.get(name)
            && !matches!(other, Value::Str(_))
        {
            let kind = other.kind_name();
            return Err(Failure::new(format!(
                "unable to parse {name} key, must be of type string, but {kind} found"
            )));
        }
    }
    let mut out = String::new();
    if !part("scheme").is_empty() {
        out += &format!("{}:", part("scheme"));
    }
    let path = part("path");
    if part("opaque").is_empty() {
        let (user, host) = (part("userinfo"), part("host"));
        if !part("scheme").is_empty() || !host.is_empty() || !user.is_empty() {
            if !host.is_empty() || !path.is_empty() || !user.is_empty() {
                out += "//";
            }
            if !user.is_empty() {
                out += &format!("{user}@");
            }
            out += &host;
        }
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        // Without this, what stands before the colon would be a scheme.
        let first = path.split('/').next().unwrap_or_default();
        if out.is_empty() && first.contains(':') {
            out.push_str("./");
        }
        out += &escape_path(&path);
    } else {
        out += &part("opaque");
    }
    if !part("query").is_empty() {
        out += &format!("?{}", part("query"));
    }
    if !part("fragment").is_empty() {
        out += &format!("#{}", escape_path(&part("fragment")));
    }
    Ok(out.into())
}

fn escape_path(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}
