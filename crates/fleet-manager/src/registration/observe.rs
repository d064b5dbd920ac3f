//! Reads what a registration depends on: its cluster, its account and token, the account that
//! will fetch the credential, and other requests of the same client.

use std::sync::Arc;

use fleet_api::{Cluster, ClusterRegistration, ClusterRegistrationToken, labels, names};
use fleet_runtime::Error;
use fleet_runtime::write::find;
use k8s_openapi::api::core::v1::ServiceAccount;

use super::{Indexes, client_of_registration};
use crate::account::{self, Token};
use crate::shell::{Shell, label, name, namespace, uid};

/// The cluster of a client.
#[derive(Clone, Debug)]
pub(super) enum Owner {
    /// There is none yet.
    Nobody,
    /// This one.
    Known(Arc<Cluster>),
    /// The name that it would get belongs to another client.
    Taken,
}

/// Who reads the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// An account of the registration's namespace, and the name its rights get.
    Account { account: String, base: String },
    /// Nobody can be given the right; why.
    Nobody(&'static str),
}

/// What a registration depends on.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) owner: Owner,
    pub(super) account: Option<ServiceAccount>,
    pub(super) token: Token,
    pub(super) reader: Reader,
    /// Requests of the same client in the same namespace, without this one.
    pub(super) others: Vec<Arc<ClusterRegistration>>,
    pub(super) system_namespace: String,
    pub(super) registration_namespace: String,
    pub(super) ignore_labels: bool,
}

pub(super) async fn observe(
    registration: &ClusterRegistration,
    shell: &Shell,
    indexes: &Indexes,
) -> Result<Facts, Error> {
    let space = namespace(registration);
    let owner = owner(registration, shell, indexes).await?;
    let mut facts = Facts {
        reader: Reader::Nobody("its cluster does not exist yet"),
        others: others(registration, shell, indexes),
        account: None,
        token: Token::Unasked,
        system_namespace: shell.settings.namespace.clone(),
        registration_namespace: shell.settings.registration_namespace(),
        ignore_labels: shell.config.borrow().ignore_cluster_registration_labels,
        owner,
    };
    let Owner::Known(cluster) = &facts.owner else {
        return Ok(facts);
    };
    let Some(cluster_space) = cluster
        .status
        .as_ref()
        .map(|status| &status.namespace)
        .filter(|name| !name.is_empty())
    else {
        return Ok(facts);
    };
    let account = names::service_account(name(registration), uid(registration));
    facts.account = find(&shell.cx.namespaced::<ServiceAccount>(cluster_space), &account).await?;
    if let Some(account) = &facts.account {
        facts.token = account::token(account, &shell.cx).await?;
    }
    facts.reader = reader(registration, name(&**cluster), space, shell).await?;
    Ok(facts)
}

async fn owner(registration: &ClusterRegistration, shell: &Shell, indexes: &Indexes) -> Result<Owner, Error> {
    let clusters = shell.world.clusters.mirror();
    let client = client_of_registration(registration).unwrap_or_default();
    if let Some(cluster) = indexes.clusters.find(&client).iter().find_map(|key| clusters.at(key)) {
        return Ok(Owner::Known(cluster));
    }
    let space = namespace(registration);
    let expected = names::registered_cluster(&registration.spec.client_id);
    let found = match clusters.find(space, &expected) {
        Some(cluster) => Some(cluster),
        // The watch may be behind: a second cluster for one client would be worse than a read.
        None => find(&shell.cx.namespaced::<Cluster>(space), &expected)
            .await?
            .map(Arc::new),
    };
    Ok(match found {
        None => Owner::Nobody,
        Some(cluster) if cluster.spec.client_id == registration.spec.client_id => Owner::Known(cluster),
        Some(_) => Owner::Taken,
    })
}

fn others(registration: &ClusterRegistration, shell: &Shell, indexes: &Indexes) -> Vec<Arc<ClusterRegistration>> {
    let mirror = shell.world.registrations.mirror();
    let client = client_of_registration(registration).unwrap_or_default();
    let keys = indexes.registrations.find(&client);
    keys.iter()
        .filter(|key| key.name != name(registration))
        .filter_map(|key| mirror.at(key))
        .collect()
}

async fn reader(
    registration: &ClusterRegistration,
    cluster: &str,
    space: &str,
    shell: &Shell,
) -> Result<Reader, Error> {
    let tokens = shell.cx.namespaced::<ClusterRegistrationToken>(space);
    let import = names::import_token(cluster);
    // Looked up where it lives, not in the mirror: an import may have made it a moment ago.
    if let Some(token) = find(&tokens, &import).await? {
        let account = names::service_account(&import, uid(&token));
        return Ok(Reader::Account {
            base: account.clone(),
            account,
        });
    }
    let named = label(registration, labels::REGISTRATION_TOKEN);
    if named.is_empty() {
        return Ok(Reader::Nobody("it names no registration token"));
    }
    Ok(match find(&tokens, named).await? {
        Some(token) => Reader::Account {
            account: names::service_account(named, uid(&token)),
            base: name(registration).to_owned(),
        },
        None => Reader::Nobody("its registration token does not exist any more"),
    })
}
