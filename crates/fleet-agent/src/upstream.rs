//! The connection to the management cluster: a kubeconfig with inline data only becomes a
//! client. Must never run programs or read files that a kubeconfig names.

use kube::config::{KubeConfigOptions, Kubeconfig};

/// Why a kubeconfig is not usable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It cannot be read.
    #[error("parse kubeconfig")]
    Parse(#[source] Box<kube::config::KubeconfigError>),
    /// It names a program or a file.
    #[error("kubeconfig names {0}, only inline data is used")]
    NotInline(&'static str),
    /// No client can be made of it.
    #[error("connect to the management cluster: {0}")]
    Client(String),
}

/// The management cluster as this agent sees it.
#[derive(Clone)]
pub(crate) struct Upstream {
    /// With the account of this cluster.
    pub client: kube::Client,
    /// Namespace of this cluster's bundle deployments.
    pub namespace: String,
    /// Namespace of the Cluster resource.
    pub cluster_namespace: String,
    /// Name of the Cluster resource.
    pub cluster_name: String,
}

/// A client from a kubeconfig's text, and the namespace of its context.
///
/// # Errors
/// It is damaged, or names a program or a file.
pub(crate) async fn connect(kubeconfig: &str) -> Result<(kube::Client, String), Error> {
    let parsed = Kubeconfig::from_yaml(kubeconfig).map_err(|error| Error::Parse(Box::new(error)))?;
    for user in parsed.auth_infos.iter().filter_map(|user| user.auth_info.as_ref()) {
        if user.exec.is_some() || user.auth_provider.is_some() {
            return Err(Error::NotInline("a program"));
        }
        if user.token_file.is_some() || user.client_certificate.is_some() || user.client_key.is_some() {
            return Err(Error::NotInline("a file"));
        }
    }
    if parsed
        .clusters
        .iter()
        .filter_map(|cluster| cluster.cluster.as_ref())
        .any(|cluster| cluster.certificate_authority.is_some())
    {
        return Err(Error::NotInline("a file"));
    }
    let config = kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
        .await
        .map_err(|error| Error::Parse(Box::new(error)))?;
    let namespace = config.default_namespace.clone();
    let client = kube::Client::try_from(config).map_err(|error| Error::Client(fleet_runtime::chain(&error)))?;
    Ok((client, namespace))
}
