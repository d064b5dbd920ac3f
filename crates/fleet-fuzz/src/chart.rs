//! Charts from files and from archives: both ways give the same chart, and an archive gives nothing outside itself;
//! what is rendered twice is the same, and a release record of it can be read again.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use fleet_source::chart::archive;
use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::ignore::Rules;
use helm::release::{self, Release};
use helm::render::{ReleaseOptions, render};
use helm::template::{Options, template};

use crate::{section, template as one_template};

type Files = BTreeMap<String, Vec<u8>>;

/// `T` and a tar stream, a packed archive, or else the files of a chart.
pub fn check(data: &[u8]) {
    match data {
        [0x1f, 0x8b, ..] => packed(data),
        // Mutations rarely survive a checksum: the stream is packed here.
        [b'T', tar @ ..] => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
            let bytes = gzip.write_all(tar).and_then(|()| gzip.finish());
            packed(&bytes.unwrap_or_default());
        }
        _ => {
            if let Ok(text) = std::str::from_utf8(data) {
                loose(&section::files(text));
            }
        }
    }
}

fn packed(bytes: &[u8]) {
    if let Ok(Some(files)) = archive::unpack(bytes) {
        for name in files.keys() {
            assert!(is_inside(name), "{name} leaves the archive");
        }
    }
    if let Ok(chart) = Chart::from_archive(bytes) {
        for file in chart.files.iter().chain(chart.templates.iter()) {
            assert!(is_inside(&file.name), "{} leaves the archive", file.name);
        }
        used(&chart);
    }
}

fn is_inside(name: &str) -> bool {
    !name.starts_with('/') && !name.split('/').any(|part| part == "..")
}

fn loose(files: &Files) {
    if let Some(text) = files.get(".helmignore")
        && let Ok(rules) = Rules::parse(&String::from_utf8_lossy(text))
    {
        for name in files.keys() {
            assert_eq!(rules.ignores(name, false), rules.ignores(name, false));
        }
    }
    let Ok(chart) = Chart::from_files(files.clone()) else {
        return;
    };
    used(&chart);
    // Names that an archive cannot hold, or that mean something else in one; and a mark that archives lose.
    let plain = files.iter().all(|(name, content)| {
        name.len() < 90
            && name.is_ascii()
            && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'))
            && !name.contains('\\')
            && !content.starts_with(b"\xef\xbb\xbf")
            && !is_folder(files, name)
    });
    if !plain {
        return;
    }
    let Ok(bytes) = archive::pack(&inside("c", files)) else {
        return;
    };
    match Chart::from_archive(&bytes) {
        Ok(again) => assert_eq!(again, chart, "the archive holds another chart than the files"),
        Err(error) => panic!("files are a chart, their archive is none: {error}"),
    }
    charts_inside_packed(files, &chart);
}

/// Whether other files lie in something of that name.
fn is_folder(files: &Files, name: &str) -> bool {
    let inside = format!("{name}/");
    files
        .range(inside.clone()..)
        .next()
        .is_some_and(|(next, _)| next.starts_with(&inside))
}

/// A chart inside may be packed or not.
fn charts_inside_packed(files: &Files, chart: &Chart) {
    let mut with_archives = files.clone();
    let mut folders: BTreeMap<String, Files> = BTreeMap::new();
    for (name, content) in files {
        if let Some((folder, inner)) = name.strip_prefix("charts/").and_then(|name| name.split_once('/'))
            && !folder.starts_with('_')
            && !folder.contains('.')
            && !inner.ends_with(".prov")
        {
            with_archives.remove(name);
            let folder = folders.entry(folder.to_owned()).or_default();
            folder.insert(inner.to_owned(), content.clone());
        }
    }
    for (folder, files) in folders {
        if let Ok(bytes) = archive::pack(&inside("any", &files)) {
            with_archives.insert(format!("charts/{folder}.tgz"), bytes);
        }
    }
    let sorted = |chart: &Chart| {
        let mut inside = chart.dependencies.clone();
        inside.sort_by_cached_key(|chart| chart.to_json().to_string());
        inside
    };
    match Chart::from_files(with_archives) {
        Ok(again) => assert_eq!(sorted(&again), sorted(chart), "packed charts inside are other charts"),
        Err(error) => panic!("charts inside are charts, their archives are none: {error}"),
    }
}

fn inside(folder: &str, files: &Files) -> Files {
    let inside = files
        .iter()
        .map(|(name, data)| (format!("{folder}/{name}"), data.clone()));
    inside.collect()
}

fn used(chart: &Chart) {
    let record = chart.to_json();
    assert!(record["metadata"].is_object());
    for (path, _) in chart.crds() {
        assert!(path.contains("/crds/"), "{path}");
    }
    let options = ReleaseOptions {
        name: "r".to_owned(),
        namespace: "n".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let values = serde_json::Map::new();
    let print = || render(chart, &values, &options, &Capabilities::default(), None);
    let first = print();
    if let Err(error) = &first {
        assert!(!error.to_string().contains(one_template::PANICKED), "a panic");
    }
    let _ = template(
        chart,
        &values,
        &Options {
            include_crds: true,
            ..Options::default()
        },
    );
    let same = !varies(chart);
    match (first, print()) {
        (Ok(first), Ok(second)) => {
            assert!(!same || first == second, "not the same twice: {first:?} {second:?}");
            kept(&Release {
                name: "r".to_owned(),
                chart: first.chart.to_json(),
                manifest: first.manifests.into_iter().map(|manifest| manifest.text).collect(),
                ..Release::default()
            });
        }
        (Err(first), Err(second)) => {
            assert!(
                !same || first.to_string() == second.to_string(),
                "not the same twice: {first} {second}"
            );
        }
        (first, second) => panic!("once {first:?}, once {second:?}"),
    }
}

/// Whether templates of the chart may print something else each time. Values can be templates, too.
fn varies(chart: &Chart) -> bool {
    let named = |text: &str| one_template::VARYING.iter().any(|name| text.contains(name));
    let files = chart.templates.iter().chain(chart.files.iter());
    named(&format!("{:?}", chart.values))
        || files
            .map(|file| String::from_utf8_lossy(&file.data))
            .any(|text| named(&text))
        || chart.dependencies.iter().any(varies)
}

/// What is written as a release can be read, and is written the same again.
fn kept(release: &Release) {
    let Ok(text) = release::encode(release) else { return };
    match release::decode(text.as_bytes()) {
        Ok(again) => assert_eq!(release::encode(&again).ok().as_ref(), Some(&text), "another record"),
        Err(error) => panic!("the record cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target whose inputs are all refused at the door would find nothing.
    #[test]
    fn seeds_are_charts() {
        for seed in ["files", "v1", "umbrella", "hooks"] {
            let path = format!("{}/../../fuzz/seeds/chart/{seed}.txt", env!("CARGO_MANIFEST_DIR"));
            let files = section::files(&std::fs::read_to_string(path).unwrap());
            let chart = Chart::from_files(files).unwrap();
            let printed = template(&chart, &serde_json::Map::new(), &Options::default());
            assert!(printed.is_ok() || seed == "v1", "{seed}: {printed:?}");
        }
    }
}
