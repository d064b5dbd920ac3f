//! What `helm template` prints for charts, values and options, byte for byte, and what it refuses, word for word.
//!
//! `tests/data/make-templates.py` makes the table with real Helm. `FLOOR` may only rise.

use std::path::Path;

use helm::set::Mode;
use helm::template::{Options, template};
use helm::{folder, set, values};
use serde_json::Value;

/// Cases that agree.
const FLOOR: usize = 400;

#[test]
fn charts_print_what_helm_template_prints() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../data/templates.json")).unwrap();
    let mut agreed = 0;
    let mut report = String::new();
    for case in &table {
        let expected = case["stdout"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| word(&case["error"]));
        let found = run(case);
        if found == expected {
            agreed += 1;
        } else {
            report += &format!("{}\n  helm: {expected:?}\n  ours: {found:?}\n", case["about"]);
        }
    }
    println!("{report}");
    println!("{agreed} of {} agree", table.len());
    assert!(agreed >= FLOOR, "{agreed} agree, {FLOOR} did before\n{report}");
    assert!(FLOOR + 10 >= agreed, "{agreed} agree: raise the floor of {FLOOR}");
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(word).collect()
}

fn run(case: &Value) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("top");
    std::fs::create_dir_all(&root).unwrap();
    for (name, text) in case["files"].as_object().unwrap() {
        write(&root.join(name), text.as_str().unwrap());
    }
    let given = &case["options"];
    let mut user = values::Values::new();
    for (index, text) in words(&case["values"]).iter().enumerate() {
        let found = values::parse(text.as_bytes()).map_err(|error| format!("failed to parse {index}.yaml: {error}"))?;
        user = values::merge(user, values::floats(found));
    }
    for kind in ["set-json", "set", "set-string", "set-literal"] {
        let mode = match kind {
            "set-json" => Mode::Json,
            "set" => Mode::Typed,
            "set-string" => Mode::Text,
            _ => Mode::Literal,
        };
        for pair in case["sets"].as_array().unwrap() {
            if pair[0] == kind {
                let colon = if kind == "set-json" { "" } else { ":" };
                set::set(&mut user, pair[1].as_str().unwrap(), &mode)
                    .map_err(|error| format!("failed parsing --{kind} data{colon} {error}"))?;
            }
        }
    }
    let flag = |name: &str| given[name] == true;
    let or = |name: &str, default: &str| given[name].as_str().unwrap_or(default).to_owned();
    let options = Options {
        name: or("name", "release-name"),
        namespace: or("namespace", "default"),
        kube_version: given["kube_version"].as_str().map(str::to_owned),
        api_versions: words(&given["api_versions"]),
        include_crds: flag("include_crds"),
        is_upgrade: flag("is_upgrade"),
        no_hooks: flag("no_hooks"),
        skip_tests: flag("skip_tests"),
        skip_schema_validation: flag("skip_schema_validation"),
        show_only: words(&given["show_only"]),
    };
    let chart = folder::load(&root.join(or("chart", "."))).map_err(|error| error.to_string())?;
    template(&chart, &user, &options).map_err(|error| error.to_string().trim_end_matches('\n').to_owned())
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if let Some(target) = text.strip_prefix("link:") {
        std::os::unix::fs::symlink(target, path).unwrap();
    } else if let Some(encoded) = text.strip_prefix("base64:") {
        use base64::Engine as _;
        let data = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap();
        std::fs::write(path, data).unwrap();
    } else {
        std::fs::write(path, text).unwrap();
    }
}
