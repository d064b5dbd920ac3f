//! gotemplate
