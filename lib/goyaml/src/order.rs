//! The order in which go-yaml writes the keys of a mapping: "natural", so that `a2` comes before `a10`.
//!
//! The comparison is not transitive (letters against digits against signs), therefore the sort is our own: the
//! standard library's may refuse an inconsistent order. Small mappings are sorted by insertion, as Go does, which
//! makes even inconsistent cases come out as in Go when they start from the same order.

use crate::Dialect;

/// Sorts the entries from `start` on by their keys as go-yaml does.
pub(crate) fn sort_tail<K: AsRef<str>, V>(entries: &mut Vec<(K, V)>, start: usize, dialect: Dialect) {
    if entries.len() - start <= INSERTION_LIMIT {
        insertion(&mut entries[start..], dialect);
    } else {
        let middle = start + (entries.len() - start) / 2;
        let mut right = entries.split_off(middle);
        sort_tail(&mut right, 0, dialect);
        sort_tail(entries, start, dialect);
        let left = entries.split_off(start);
        merge(entries, left, right, dialect);
    }
}

/// Go sorts up to this many elements by insertion.
const INSERTION_LIMIT: usize = 12;

fn insertion<K: AsRef<str>, V>(entries: &mut [(K, V)], dialect: Dialect) {
    for end in 1..entries.len() {
        let mut at = end;
        while at > 0 && less(entries[at].0.as_ref(), entries[at - 1].0.as_ref(), dialect) {
            entries.swap(at, at - 1);
            at -= 1;
        }
    }
}

fn merge<K: AsRef<str>, V>(entries: &mut Vec<(K, V)>, left: Vec<(K, V)>, right: Vec<(K, V)>, dialect: Dialect) {
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if less(b.0.as_ref(), a.0.as_ref(), dialect) {
            right.next()
        } else {
            left.next()
        };
        entries.extend(next);
    }
    entries.extend(left);
    entries.extend(right);
}

/// Whether `a` comes before `b`.
///
/// The first differing character decides: a letter comes after a sign or digit; two letters compare by code point; runs
/// of digits compare by value (a zero inside a longer number counts as part of it), then by length.
pub(crate) fn less(a: &str, b: &str, dialect: Dialect) -> bool {
    // Mostly the first difference is between two letters.
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    if let (Some(x), Some(y)) = (a.as_bytes().get(same), b.as_bytes().get(same)) {
        if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() {
            return x < y;
        }
    } else {
        return a.len() < b.len();
    }
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y);
    let offset: usize = common.map(|(x, _)| x.len_utf8()).sum();
    let (Some(x), Some(y)) = (a[offset..].chars().next(), b[offset..].chars().next()) else {
        return a.len() < b.len();
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x < y,
        (false, false) => {}
        // After a digit the newer dialect turns this round.
        (left, right) => {
            let turned = dialect == Dialect::V3 && a[..offset].chars().next_back().is_some_and(is_digit);
            return if turned { left } else { right };
        }
    }
    let start = if (x == '0' || y == '0') && continues_number(&a[..offset]) {
        1
    } else {
        0
    };
    let (value_a, length_a) = digits(&a[offset..], start);
    let (value_b, length_b) = digits(&b[offset..], start);
    if value_a != value_b {
        value_a < value_b
    } else if length_a != length_b {
        length_a < length_b
    } else {
        x < y
    }
}

/// Whether the text ends in digits that are not all zero.
fn continues_number(text: &str) -> bool {
    text.chars().rev().take_while(|c| is_digit(*c)).any(|c| c != '0')
}

fn digits(text: &str, start: i64) -> (i64, usize) {
    text.chars()
        .take_while(|c| is_digit(*c))
        .fold((start, 0), |(value, length), c| {
            let digit = i64::from(u32::from(c)) - i64::from(u32::from('0'));
            (value.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric() && !c.is_alphabetic())
}
