//! fleet-manager
