//! Every seed, and every input that once broke a law, again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic;
use std::path::{Path, PathBuf};

/// Runs a target over the files of one of its folders.
fn replay(folder: &str) -> Vec<(&'static str, usize)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(folder);
    let mut failed = Vec::new();
    let counts = fleet_fuzz::TARGETS
        .iter()
        .map(|(target, check)| {
            let files = std::fs::read_dir(root.join(target)).into_iter().flatten();
            let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
            files.sort();
            for path in &files {
                let data = std::fs::read(path).unwrap();
                if panic::catch_unwind(|| check(&data)).is_err() {
                    failed.push(path.display().to_string());
                }
            }
            (*target, files.len())
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    counts
}

#[test]
fn seeds_keep_the_laws() {
    for (target, count) in replay("seeds") {
        assert!(count > 0, "{target} has no seeds");
    }
}

#[test]
fn inputs_that_once_failed_keep_the_laws() {
    let count: usize = replay("regressions").into_iter().map(|(_, count)| count).sum();
    assert!(count > 0, "no input found: is the folder where it was?");
}

#[test]
fn every_target_has_its_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut programs: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    programs.sort();
    let mut targets: Vec<_> = fleet_fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
    targets.sort_unstable();
    assert_eq!(programs, targets);
}
