//! The few bits of DER that moving keys between their file formats needs: elements in, elements out.

/// `INTEGER`
const INTEGER: u8 = 0x02;

/// `OCTET STRING`
pub(super) const OCTETS: u8 = 0x04;

/// `SEQUENCE`
pub(super) const SEQUENCE: u8 = 0x30;

/// One element.
pub(super) fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match u8::try_from(content.len()) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let length = content.len().to_be_bytes();
            let digits: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
            out.push(0x80 | u8::try_from(digits.len()).unwrap_or(0));
            out.extend(digits);
        }
    }
    out.extend(content);
    out
}

/// A number that is not negative, from its big-endian bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    let mut content = Vec::with_capacity(digits.len() + 1);
    if digits.first().is_none_or(|first| *first >= 0x80) {
        content.push(0);
    }
    content.extend(digits);
    element(INTEGER, &content)
}

/// The first element of `bytes`: its tag, its content, and what follows it.
pub(super) fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let count = usize::from(*length & 0x7f);
        if count > 4 {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(count)?;
        let length = digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit));
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// The elements inside an element of that tag at the start of `bytes`.
pub(super) fn inside(tag: u8, bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let (found, mut content, _) = first(bytes)?;
    if found != tag {
        return None;
    }
    let mut parts = Vec::new();
    while !content.is_empty() {
        let (tag, part, rest) = first(content)?;
        parts.push((tag, part));
        content = rest;
    }
    Some(parts)
}
