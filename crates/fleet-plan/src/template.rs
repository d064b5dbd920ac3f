//! Values from cluster labels.

/// Whether a label or annotation of a cluster or bundle is the user's, not a tool's.
pub(crate) fn is_usable(key: &str) -> bool {
    !key.starts_with("kubectl.kubernetes.io/") && !key.contains("cattle.io/")
}
