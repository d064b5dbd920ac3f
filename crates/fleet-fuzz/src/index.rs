//! A chart repository's index: what is picked stands in it, fits, and nothing that fits is newer.

use fleet_source::chart::index::{self, Entry, Error};
use gotemplate::semver::Version;
use serde_json::{Value, json};

use crate::section;

/// The chart's name and the wanted version on the first two lines, the index after a mark.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let [wanted, listed] = section::parts(text);
    let mut wanted = wanted.lines();
    let (name, version) = (wanted.next().unwrap_or_default(), wanted.next().unwrap_or_default());
    let Ok(index) = index::read(listed.as_bytes()) else {
        return;
    };
    let pick = |index: &Value, version: &str| index::select(index, "https://h/charts", name, version);
    let picked = match pick(&index, version) {
        Ok(picked) => picked,
        Err(error) => {
            let again = pick(&index, version).err().map(|error| error.to_string());
            assert_eq!(again, Some(error.to_string()), "not refused the same way twice");
            return none_fits(&index, name, &error, &|only| pick(only, version));
        }
    };
    assert_eq!(pick(&index, version).ok().as_ref(), Some(&picked), "not the same twice");
    assert!(picked.url.contains("://"), "{picked:?} has no whole address");
    // A version as the index writes it picks itself.
    assert_eq!(pick(&index, &picked.version).ok().as_ref(), Some(&picked));
    newest(&index, name, version, &picked, &|only| pick(only, version));
}

type Pick<'p> = &'p dyn Fn(&Value) -> Result<Entry, Error>;

/// Every version of the chart as an index of its own.
fn each<'i>(index: &'i Value, name: &str) -> impl Iterator<Item = Value> + use<'i> {
    let name = name.to_owned();
    let versions = index["entries"][&name].as_array().into_iter().flatten();
    versions.map(move |entry| json!({"entries": {&name: [entry]}}))
}

fn none_fits(index: &Value, name: &str, error: &Error, pick: Pick<'_>) {
    if matches!(error, Error::Find { .. }) {
        for only in each(index, name) {
            assert!(pick(&only).is_err(), "{error}, but {only} alone is picked");
        }
    }
}

fn newest(index: &Value, name: &str, wanted: &str, picked: &Entry, pick: Pick<'_>) {
    let read = |text: &str| match Version::parse(text) {
        Ok(version) => version,
        Err(error) => panic!("{text} was picked: {error}"),
    };
    let version = read(&picked.version);
    let written = read(&version.to_string());
    assert!(
        written.compare(&version).is_eq(),
        "{version} reads back as another version"
    );
    let alone: Vec<Entry> = each(index, name).filter_map(|only| pick(&only).ok()).collect();
    assert!(alone.contains(picked), "{picked:?} is not picked alone");
    // What is written exactly so goes before what is newer.
    if picked.version != wanted {
        for other in alone {
            assert!(
                version.compare(&read(&other.version)).is_ge(),
                "{other:?} fits {wanted:?} and is newer than {picked:?}"
            );
        }
    }
}
