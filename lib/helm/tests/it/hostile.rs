//! Charts that mean harm are refused: they take neither all memory nor the stack.

use std::collections::BTreeMap;

use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{ReleaseOptions, render};

fn refused(files: BTreeMap<String, Vec<u8>>) -> String {
    let chart = Chart::from_files(files).unwrap();
    let values = serde_json::Map::new();
    let printed = render(
        &chart,
        &values,
        &ReleaseOptions::default(),
        &Capabilities::default(),
        None,
    );
    printed.unwrap_err().to_string()
}

fn file(path: &str, text: &str) -> (String, Vec<u8>) {
    (path.to_owned(), text.as_bytes().to_vec())
}

#[test]
fn aliases_do_not_multiply_without_end() {
    let mut files = BTreeMap::new();
    let mut path = String::new();
    for level in 0..4 {
        let below = level + 1;
        let list: String = (0..60)
            .map(|alias| format!("- {{name: c{below}, alias: x{alias}}}\n"))
            .collect();
        let head = format!("apiVersion: v2\nname: c{level}\nversion: 1.0.0\ndependencies:\n{list}");
        files.extend([file(&format!("{path}Chart.yaml"), &head)]);
        path += &format!("charts/c{below}/");
    }
    let leaf = "apiVersion: v2\nname: c4\nversion: 1.0.0\n";
    files.extend([file(&format!("{path}Chart.yaml"), leaf)]);
    assert_eq!(refused(files), "more than 10000 charts take part");
}

#[test]
fn values_are_not_imported_under_a_path_without_end() {
    let parent = vec!["a"; 1_000_000].join(".");
    let head = format!(
        "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {{name: b, import-values: [{{child: x, parent: {parent}}}]}}\n"
    );
    let files = BTreeMap::from([
        file("Chart.yaml", &head),
        file("charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"),
        file("charts/b/values.yaml", "x: {y: 1}\n"),
    ]);
    assert_eq!(refused(files), "values are imported under more than 100 names");
}
