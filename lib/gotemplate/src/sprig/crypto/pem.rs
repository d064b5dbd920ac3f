//! PEM: a labelled block of base64 text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Characters of base64 on one line.
const LINE: usize = 64;

/// Writes a block.
pub(super) fn write(label: &str, content: &[u8]) -> String {
    let text = STANDARD.encode(content);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(LINE));
        out.push_str(line);
        out.push('\n');
        rest = tail;
    }
    out.push_str("-----END ");
    out.push_str(label);
    out.push_str("-----\n");
    out
}

/// The first block in `text`: its label and content.
pub(super) fn read(text: &str) -> Option<(&str, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let base64: String = body
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .collect();
    Some((label, STANDARD.decode(base64).ok()?))
}
