//! helm
