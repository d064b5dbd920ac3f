//! Looks for bytes that break `fleet_fuzz::index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::index::check(data));
