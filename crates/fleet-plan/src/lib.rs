//! fleet-plan
