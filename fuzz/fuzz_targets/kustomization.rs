//! Looks for bytes that break `fleet_fuzz::kustomization`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fleet_fuzz::kustomization::check(data));
