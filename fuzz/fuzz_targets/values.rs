//! Looks for bytes that break `fleet_fuzz::values`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::values::check(data));
