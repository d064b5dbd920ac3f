//! kustomize
