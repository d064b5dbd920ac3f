//! What a chart may ask about the cluster: its version and the kinds it serves.

use gotemplate::semver::{Constraint, Version};

/// The version of Helm this engine behaves like, as templates see it.
pub const HELM_VERSION: &str = "v4.2";

/// The version of Kubernetes assumed where no cluster is asked.
const DEFAULT_KUBE_VERSION: &str = "v1.36.0";

/// The kinds assumed where no cluster is asked: group and version only.
const DEFAULT_API_VERSIONS: &str = "v1 admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1 \
    admissionregistration.k8s.io/v1beta1 internal.apiserver.k8s.io/v1alpha1 apps/v1 apps/v1beta1 apps/v1beta2 \
    authentication.k8s.io/v1 authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1 authorization.k8s.io/v1 \
    authorization.k8s.io/v1beta1 autoscaling/v1 autoscaling/v2 batch/v1 batch/v1beta1 certificates.k8s.io/v1 \
    certificates.k8s.io/v1beta1 certificates.k8s.io/v1alpha1 coordination.k8s.io/v1alpha2 \
    coordination.k8s.io/v1beta1 coordination.k8s.io/v1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1 \
    events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 \
    flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3 \
    networking.k8s.io/v1 networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1 node.k8s.io/v1beta1 \
    policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1beta1 \
    rbac.authorization.k8s.io/v1alpha1 resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1 \
    resource.k8s.io/v1alpha3 scheduling.k8s.io/v1alpha2 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 \
    storage.k8s.io/v1beta1 storage.k8s.io/v1 storage.k8s.io/v1alpha1 storagemigration.k8s.io/v1beta1 \
    apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1";

/// Why a text is no version of Kubernetes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is no semantic version.
    #[error("\"{0}\" is not a Kubernetes version")]
    ParseVersion(String),
    /// The text does not begin with a number.
    #[error("could not parse \"{0}\" as version")]
    NoVersion(String),
    /// One number is not enough.
    #[error("illegal version string \"{0}\"")]
    Short(String),
}

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// The whole version, as it prints: `v1.36.3` of a server, `1.25.0` of a parsed one.
    pub version: String,
    /// First number.
    pub major: String,
    /// Second number; servers may append a `+`.
    pub minor: String,
    /// What it prints as and what constraints are held against, where that is not `version`; else empty.
    pub normal: String,
}

impl KubeVersion {
    /// Reads a version a user gave; it prints without the `v`.
    ///
    /// # Errors
    /// It is no semantic version.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let version = Version::parse(text).map_err(|_| Error::ParseVersion(text.to_owned()))?;
        Ok(Self {
            version: version.to_string(),
            major: version.major.to_string(),
            minor: version.minor.to_string(),
            normal: String::new(),
        })
    }

    /// Reads a version from the command line: two numbers or more, and what a provider appended. It is shown as typed,
    /// with a `v`, and compared without what follows the numbers.
    ///
    /// # Errors
    /// It does not begin with two numbers.
    pub fn given(text: &str) -> Result<Self, Error> {
        let bare = text.trim_start();
        let bare = bare.strip_prefix('v').unwrap_or(bare);
        let parts: Vec<&str> = bare.split('.').collect();
        let mut numbers: Vec<&str> = Vec::new();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (number, rest) = part.split_at(digits);
            if number.is_empty() {
                break;
            }
            numbers.push(number);
            if !rest.is_empty() {
                break;
            }
        }
        let [major, minor, ..] = numbers.as_slice() else {
            let text = text.to_owned();
            return Err(if numbers.is_empty() {
                Error::NoVersion(text)
            } else {
                Error::Short(text)
            });
        };
        Ok(Self {
            version: format!("v{bare}"),
            major: (*major).to_owned(),
            minor: (*minor).to_owned(),
            normal: format!("v{}", numbers.join(".")),
        })
    }

    /// The version without what a provider appended, where it is known.
    #[must_use]
    pub fn compared(&self) -> &str {
        if self.normal.is_empty() {
            &self.version
        } else {
            &self.normal
        }
    }
}

/// What templates see as `.Capabilities`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The cluster's version.
    pub kube_version: KubeVersion,
    /// `v1`, `apps/v1`, `apps/v1/Deployment`.
    pub api_versions: Vec<String>,
    /// Helm's version.
    pub helm_version: String,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            kube_version: KubeVersion {
                version: DEFAULT_KUBE_VERSION.into(),
                major: "1".into(),
                minor: "36".into(),
                normal: String::new(),
            },
            api_versions: DEFAULT_API_VERSIONS.split_whitespace().map(str::to_owned).collect(),
            helm_version: HELM_VERSION.into(),
        }
    }
}

impl Capabilities {
    /// The built-in list of kinds, with the given version of Kubernetes.
    pub fn assumed(kube_version: KubeVersion) -> Self {
        Self {
            kube_version,
            ..Self::default()
        }
    }

    /// Whether a chart's `kubeVersion` allows this cluster; an empty constraint allows all, a broken one none.
    pub fn allow(&self, constraint: &str) -> bool {
        if constraint.is_empty() {
            return true;
        }
        match (
            Constraint::parse(constraint),
            Version::parse(self.kube_version.compared()),
        ) {
            (Ok(constraint), Ok(version)) => constraint.allows(&version),
            _ => false,
        }
    }
}
