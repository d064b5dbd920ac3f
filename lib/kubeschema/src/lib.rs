//! kubeschema
