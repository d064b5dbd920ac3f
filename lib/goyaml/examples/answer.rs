//! Answers lines of `{"do": …, "input": …}` as `tests/reference/main.go` does, to compare many texts with Go's own
//! libraries: `generate.py | tee in | reference > go; answer < in > ours`.

use std::io::{self, BufRead as _, Write as _};

use goyaml::{Dialect, json, number, parse_with, parse_with_repeated, to_yaml, to_yaml_with};
use serde_json::{Value, json};

fn answer(action: &str, input: &str) -> Result<String, String> {
    let value = || serde_json::from_str::<Value>(input).map_err(|error| error.to_string());
    let told = |error: goyaml::Error| error.as_go_tells();
    let converting = |error: goyaml::Error| format!("error converting YAML to JSON: {}", error.as_go_tells());
    match action {
        "parse" => parse_with(Dialect::V2, input)
            .map(|value| json::to_string(&value))
            .map_err(converting),
        "parse_v3" => parse_with(Dialect::V3, input)
            .map(|value| json::to_string(&value))
            .map_err(told),
        "strict" => match parse_with_repeated(input) {
            Err(error) => Err(error.as_go_tells()),
            Ok((value, repeated)) if repeated.is_empty() => Ok(json::to_string(&value)),
            Ok((_, repeated)) => Err(format!(
                "yaml: unmarshal errors:{}",
                repeated
                    .iter()
                    .map(|key| format!("\n  line {}: key {} already set in map", key.line, key.key))
                    .collect::<String>()
            )),
        },
        "emit" => to_yaml(&value()?).map_err(told),
        "emit_v3" => to_yaml_with(Dialect::V3, &value()?).map_err(told),
        "json" => value().map(|value| json::to_string(&value)),
        "format_g" => input
            .parse()
            .map(number::format_g)
            .map_err(|error: std::num::ParseFloatError| error.to_string()),
        other => Err(format!("unknown: {other}")),
    }
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let mut case: Value = serde_json::from_str(&line?)?;
        let text = |field: &str| case[field].as_str().unwrap_or_default().to_owned();
        let given = answer(&text("do"), &text("input"));
        match given {
            Ok(output) => case["output"] = json!(output),
            Err(error) => case["error"] = json!(error),
        }
        writeln!(out, "{case}")?;
    }
    out.flush()
}
