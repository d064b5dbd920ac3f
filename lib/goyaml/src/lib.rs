//! goyaml
