//! Persistent backend.
