//! Looks for bytes that break `fleet_fuzz::chart`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::chart::check(data));
