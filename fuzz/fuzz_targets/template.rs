//! Looks for bytes that break `fleet_fuzz::template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::template::check(data));
