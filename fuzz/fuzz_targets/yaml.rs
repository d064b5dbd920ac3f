//! Looks for bytes that break `fleet_fuzz::yaml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::yaml::check(data));
