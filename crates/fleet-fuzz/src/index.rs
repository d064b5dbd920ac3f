//! A chart repository's index: what is picked stands in it, and fits.

use fleet_source::chart::index;

use crate::section;

/// The chart's name and the wanted version on the first two lines, the index after a mark.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [wanted, listed] = section::parts(text);
    let mut wanted = wanted.lines();
    let (name, version) = (wanted.next().unwrap_or_default(), wanted.next().unwrap_or_default());
    let pick =
        || index::read(listed.as_bytes()).and_then(|index| index::select(&index, "https://h/charts", name, version));
    let first = pick();
    match (&first, &pick()) {
        (Ok(first), Ok(second)) => assert_eq!(first, second),
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        (first, second) => panic!("once {first:?}, once {second:?}"),
    }
    if let Ok(entry) = first {
        assert!(entry.url.contains("://"), "{entry:?} has no whole address");
        // A version as the index writes it picks itself.
        let index = index::read(listed.as_bytes());
        let itself = index.and_then(|index| index::select(&index, "https://h/charts", name, &entry.version));
        assert_eq!(itself.ok().as_ref(), Some(&entry));
    }
}
