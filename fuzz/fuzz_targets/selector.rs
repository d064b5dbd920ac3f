//! Looks for bytes that break `fleet_fuzz::selector`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::selector::check(data));
