//! Makes `src/protobuf/table.txt` out of Kubernetes' published protocol definitions: field numbers and types only.
//!
//! `cargo run -p apiserver --example protobuf_table -- DIR` with DIR holding `api/` and `apimachinery/` as the modules
//! `k8s.io/api` and `k8s.io/apimachinery` lay them out (for example in Go's module cache, under those names).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let root = PathBuf::from(std::env::args().nth(1).ok_or("usage: protobuf_table DIR")?);
    let mut messages = BTreeMap::new();
    for file in definitions(&root)? {
        read(&std::fs::read_to_string(file)?, &mut messages);
    }
    let mut out = String::new();
    for (name, fields) in messages {
        out.push_str(&name);
        for field in fields {
            out.push(' ');
            out.push_str(&field);
        }
        out.push('\n');
    }
    #[expect(clippy::print_stdout, reason = "the output of a generator")]
    {
        print!("{out}");
    }
    Ok(())
}

/// The files of stable versions.
fn definitions(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![root.join("apimachinery/pkg/apis/meta/v1/generated.proto")];
    for group in std::fs::read_dir(root.join("api"))? {
        for version in ["v1", "v2"] {
            let file = group
                .as_ref()
                .map_err(ToString::to_string)?
                .path()
                .join(version)
                .join("generated.proto");
            if file.exists() {
                files.push(file);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(text: &str, messages: &mut BTreeMap<String, Vec<String>>) {
    let mut package = String::new();
    let mut current: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("package ") {
            package = name.trim_end_matches(';').to_owned();
        } else if let Some(name) = line.strip_prefix("message ") {
            current = Some((full(&format!(".{package}.{}", name.trim_end_matches(" {"))), Vec::new()));
        } else if line == "}" {
            messages.extend(current.take());
        } else if let (Some((_, fields)), Some((head, number))) = (&mut current, line.split_once(" = ")) {
            let number = number.trim_end_matches(';');
            if let Some((kind, name)) = head.rsplit_once(' ') {
                fields.push(format!("{name}:{number}:{}", short(kind, &package)));
            }
        }
    }
}

/// `optional T` as `T`, `repeated T` as `*T`, `map<string, T>` as `%T`.
fn short(kind: &str, package: &str) -> String {
    let reference = |name: &str| match name {
        "string" | "bytes" | "bool" | "int32" | "int64" | "uint32" | "uint64" | "double" => name.to_owned(),
        name if name.starts_with('.') => full(name),
        name => full(&format!(".{package}.{name}")),
    };
    if let Some(name) = kind.strip_prefix("repeated ") {
        format!("*{}", reference(name))
    } else if let Some(name) = kind.strip_prefix("map<string, ") {
        format!("%{}", reference(name.trim_end_matches('>')))
    } else {
        reference(kind.trim_start_matches("optional "))
    }
}

/// `core.v1.Pod` for `.k8s.io.api.core.v1.Pod`, `meta.v1.ObjectMeta` for apimachinery's.
fn full(name: &str) -> String {
    let name = name.trim_start_matches('.');
    name.trim_start_matches("k8s.io.api.")
        .trim_start_matches("k8s.io.apimachinery.pkg.")
        .trim_start_matches("apis.")
        .to_owned()
}
