//! One input as several named texts: a line `=== NAME` begins the next one, so that a mutation of one part leaves the
//! others alone.

use std::collections::BTreeMap;

const MARK: &str = "=== ";

/// The texts by name; what stands before the first mark belongs to none. A name given twice keeps the last text.
pub(crate) fn files(text: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let (mut name, mut content) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix(MARK) {
            files.insert(
                std::mem::replace(&mut name, next.trim_end().to_owned()),
                std::mem::take(&mut content).into_bytes(),
            );
        } else {
            content.push_str(line);
        }
    }
    files.insert(name, content.into_bytes());
    files.remove("");
    files
}

/// The first `N` texts in the order written, whatever their names; missing ones are empty.
pub(crate) fn parts<const N: usize>(text: &str) -> [String; N] {
    let mut parts = [const { String::new() }; N];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(MARK) {
            at += 1;
        } else if let Some(part) = parts.get_mut(at) {
            part.push_str(line);
        }
    }
    parts
}
