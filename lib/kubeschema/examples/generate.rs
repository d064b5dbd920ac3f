//! `generate DIRECTORY > data/kinds.json`: makes the table of built-in kinds from downloaded documents.
//!
//! The directory holds `openapi-*.json` (each document below `/openapi/v3`), `discovery-groups.json` (`/apis`),
//! `discovery-plain.json` (group version → resource list) and `go-types.json` (what `generate/main.go` prints).

use std::error::Error;
use std::io::Write;
use std::path::Path;

use kubeschema::generate::{Documents, table};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: generate DIRECTORY")?;
    let directory = Path::new(&directory);
    let read = |name: &str| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_slice(&std::fs::read(directory.join(name))?)?)
    };
    let mut names: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("openapi-"))
        .collect();
    names.sort();
    let documents = Documents {
        openapi: names.iter().map(|name| read(name)).collect::<Result<_, _>>()?,
        resources: read("discovery-plain.json")?
            .as_object()
            .cloned()
            .ok_or("no resource lists")?,
        groups: read("discovery-groups.json")?,
        zeroes: read("go-types.json")?,
    };
    std::io::stdout().write_all(table(&documents)?.as_bytes())?;
    Ok(())
}
