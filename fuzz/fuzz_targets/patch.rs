//! Looks for bytes that break `fleet_fuzz::patch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::patch::check(data));
