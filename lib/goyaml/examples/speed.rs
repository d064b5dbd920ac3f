//! How fast texts are read and written: `speed FILE… [--rounds N]`, megabytes per second and microseconds per file.

use std::hint::black_box;
use std::io::{self, Write as _};
use std::time::Instant;

fn main() -> io::Result<()> {
    let mut rounds = 20_u32;
    let mut texts = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--rounds" {
            rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(rounds);
        } else {
            texts.push(std::fs::read_to_string(argument)?);
        }
    }
    let start = Instant::now();
    for _ in 0..rounds {
        for text in &texts {
            let _ = black_box(goyaml::parse_documents(black_box(text)));
        }
    }
    let read = start.elapsed();
    let values: Vec<_> = texts
        .iter()
        .filter_map(|text| goyaml::parse_documents(text).ok())
        .collect();
    let start = Instant::now();
    let mut written = 0;
    for _ in 0..rounds {
        for document in values.iter().flatten() {
            written += black_box(goyaml::to_yaml(black_box(&document.value))).map_or(0, |text| text.len());
        }
    }
    let write = start.elapsed();
    let bytes: usize = texts.iter().map(String::len).sum::<usize>() * rounds as usize;
    let rate = |bytes: usize, time: std::time::Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "read  {:8.1} MB/s, {:?} per round",
        rate(bytes, read),
        read / rounds
    )?;
    writeln!(
        out,
        "write {:8.1} MB/s, {:?} per round",
        rate(written, write),
        write / rounds
    )
}
