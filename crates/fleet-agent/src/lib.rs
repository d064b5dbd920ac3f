//! fleet-agent
