//! fleet-testkit
