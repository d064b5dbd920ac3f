//! Looks for bytes that break `fleet_fuzz::apply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::apply::check(data));
