//! fleet-source
