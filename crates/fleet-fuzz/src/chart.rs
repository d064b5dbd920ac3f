//! Charts from files and from archives: both ways give the same chart, and an archive gives nothing outside itself.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use fleet_source::chart::archive;
use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{ReleaseOptions, render};

use crate::section;

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
            assert!(
                !name.starts_with('/') && !name.split('/').any(|part| part == ".."),
                "{name} leaves the archive"
            );
        }
    }
    if let Ok(chart) = Chart::from_archive(bytes) {
        used(&chart);
    }
}

fn loose(files: &BTreeMap<String, Vec<u8>>) {
    let in_folder = files.iter().map(|(name, data)| (format!("c/{name}"), data.clone()));
    let bytes = archive::pack(&in_folder.collect());
    let Ok(chart) = Chart::from_files(files.clone()) else {
        return;
    };
    used(&chart);
    // Names that an archive cannot hold, or that mean something else in one.
    let plain = files.keys().all(|name| {
        name.len() < 90
            && name.is_ascii()
            && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'))
            && !name.contains('\\')
    });
    if let (Ok(bytes), true) = (bytes, plain) {
        match Chart::from_archive(&bytes) {
            Ok(again) => assert_eq!(again, chart, "the archive holds another chart than the files"),
            Err(error) => panic!("files are a chart, their archive is none: {error}"),
        }
    }
}

fn used(chart: &Chart) {
    let record = chart.to_json();
    assert!(record["metadata"].is_object());
    let _ = chart.crds();
    let release = ReleaseOptions {
        name: "r".to_owned(),
        namespace: "n".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let _ = render(chart, &serde_json::Map::new(), &release, &Capabilities::default(), None);
}
