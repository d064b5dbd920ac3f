//! What is wrong with a HelmOp. Pure.

use fleet_api::HelmOpSpec;

/// The first thing that is wrong, for the user.
pub(super) fn problem(spec: &HelmOpSpec) -> Option<&'static str> {
    let Some(helm) = &spec.bundle.options.helm else {
        return Some("helm options are empty in the HelmOp's spec");
    };
    let archive = helm.chart.to_lowercase().ends_with(".tgz");
    let registry = helm.repo.starts_with("oci://");
    match () {
        () if archive && !(helm.repo.is_empty() && helm.version.is_empty()) => {
            Some("a chart that is an archive takes neither a repo nor a version")
        }
        () if archive => None,
        () if registry && !helm.chart.is_empty() => Some("a repo that is a registry takes no chart"),
        () if registry => None,
        () if helm.repo.is_empty() || helm.chart.is_empty() => Some("both chart and repo are needed"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_comes_from_an_archive_a_registry_or_a_repository() {
        let check = |repo: &str, chart: &str, version: &str| {
            let helm = serde_json::json!({"helm": {"repo": repo, "chart": chart, "version": version}});
            problem(&serde_json::from_value(helm).unwrap()).is_none()
        };
        assert!(check("", "https://x/a.TGZ", ""));
        assert!(!check("https://x", "a.tgz", ""));
        assert!(check("oci://x/a", "", "1.x"));
        assert!(!check("oci://x/a", "a", ""));
        assert!(check("https://x", "a", ""));
        assert!(!check("", "a", ""));
        assert!(problem(&HelmOpSpec::default()).is_some());
    }
}
