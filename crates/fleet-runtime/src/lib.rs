//! fleet-runtime
