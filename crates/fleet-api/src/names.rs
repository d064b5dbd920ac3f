//! Names that are derived from other names: joining, truncating, hashing. Turns user-given
//! strings into names Kubernetes accepts, byte for byte as upstream's `internal/names` and
//! `internal/registration` do, because agents and managers of either program find each other's
//! objects by them. Name derivation lives here and nowhere else.

use md5::{Digest, Md5};
use sha2::Sha256;

/// Longest name of a Helm release.
pub const MAX_RELEASE_NAME: usize = 53;
/// Longest DNS label.
const MAX_LABEL: usize = 63;

/// Joins the parts with `-`; a result of 64 bytes or more is cut and ends in a part of its sha256.
#[must_use]
pub fn safe_concat(parts: &[&str]) -> String {
    let full = parts.join("-");
    if full.len() <= MAX_LABEL {
        return full;
    }
    let digest = sha256_hex(full.as_bytes());
    let bytes = full.as_bytes();
    // A name must not end its visible part in a separator, so the cut moves by one byte.
    let (keep, hash) = if bytes[56].is_ascii_lowercase() || bytes[56].is_ascii_digit() {
        (57, 5)
    } else {
        (56, 6)
    };
    format!("{}-{}", String::from_utf8_lossy(&bytes[..keep]), &digest[..hash])
}

/// Twelve hex digits of the sha256 of the first 100 bytes.
#[must_use]
pub fn key_hash(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut digest = sha256_hex(&bytes[..bytes.len().min(100)]);
    digest.truncate(12);
    digest
}

/// The first `length` hex digits of the md5.
#[must_use]
pub fn hex(text: &str, length: usize) -> String {
    let mut digest = hex::encode(Md5::digest(text.as_bytes()));
    digest.truncate(length);
    digest
}

/// Cuts a text to `length` bytes; what is cut leaves five digits of a hash.
#[must_use]
pub fn limit(text: &str, length: usize) -> String {
    if text.len() <= length {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    if length <= 6 {
        return String::from_utf8_lossy(&bytes[..length]).into_owned();
    }
    let cut = length - 6;
    let separator = if bytes[cut - 1] == b'-' { "" } else { "-" };
    format!("{}{separator}{}", String::from_utf8_lossy(&bytes[..cut]), hex(text, 5))
}

/// A valid release and bundle name from any text, e.g. `repo/path/to/dir`. Texts that lose
/// information (upper case, odd characters) get eight digits of a hash.
#[must_use]
pub fn helm_release_name(text: &str) -> String {
    let mut name = text.replace('/', "-");
    let lossy = name
        .chars()
        .any(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    if lossy {
        name = format!("{name}-{}", hex(&name, 8));
    }
    let mut clean = String::with_capacity(name.len());
    for c in name.chars() {
        // Go lower-cases rune by rune, so a letter never becomes two.
        let c = c.to_lowercase().next().unwrap_or(c);
        let c = if c.is_ascii_lowercase() || c.is_ascii_digit() {
            c
        } else {
            '-'
        };
        if c != '-' || !clean.ends_with('-') {
            clean.push(c);
        }
    }
    let clean = clean.trim_matches('-');
    if clean.is_empty() {
        hex(text, 24)
    } else {
        limit(clean, MAX_RELEASE_NAME)
    }
}

/// Namespace on the manager that holds a cluster's deployments.
#[must_use]
pub fn cluster_namespace(namespace: &str, cluster: &str) -> String {
    safe_concat(&[
        "cluster",
        namespace,
        cluster,
        &key_hash(&format!("{namespace}::{cluster}")),
    ])
}

/// Name of the Cluster made for an agent that registers itself.
#[must_use]
pub fn registered_cluster(client_id: &str) -> String {
    safe_concat(&["cluster", &key_hash(client_id)])
}

/// Name of the secret that carries an agent's credentials.
#[must_use]
pub fn credential_secret(client_id: &str, client_random: &str) -> String {
    let mut name = format!("c-{}", sha256_hex(format!("{client_id}{client_random}").as_bytes()));
    name.truncate(MAX_LABEL);
    name
}

/// Namespace of credential secrets, next to the system namespace.
#[must_use]
pub fn registration_namespace(system: &str) -> String {
    let name = system.replace("-system", "-clusters-system");
    if name == system {
        format!("{system}-clusters-system")
    } else {
        name
    }
}

/// Token with which the manager imports a cluster.
#[must_use]
pub fn import_token(cluster: &str) -> String {
    safe_concat(&[&format!("import-token-{cluster}")])
}

/// Service account of a registration token or of a registration, from its name and uid.
#[must_use]
pub fn service_account(name: &str, uid: &str) -> String {
    safe_concat(&[name, uid])
}

/// Secret with the token of a service account.
#[must_use]
pub fn token_secret(service_account: &str) -> String {
    format!("{service_account}-token")
}

/// Role of a registration token's service account.
#[must_use]
pub fn token_role(service_account: &str) -> String {
    safe_concat(&[service_account, "role"])
}

/// Binding of a registration token's service account to its role.
#[must_use]
pub fn token_role_binding(service_account: &str) -> String {
    safe_concat(&[service_account, "to", "role"])
}

/// Role and binding that let an agent read its credential secret; `base` is the import service
/// account (manager-initiated) or the registration (agent-initiated).
#[must_use]
pub fn credential_role(base: &str) -> String {
    safe_concat(&[base, "creds"])
}

/// Cluster role binding that lets an agent read Contents.
#[must_use]
pub fn content_role_binding(registration: &str) -> String {
    safe_concat(&[registration, "content"])
}

/// Bundle that keeps a cluster's agent up to date.
#[must_use]
pub fn agent_bundle(cluster: &str) -> String {
    safe_concat(&["fleet-agent", cluster])
}

/// Job that fetches a GitRepo at a commit.
#[must_use]
pub fn git_job(repository: &str, url: &str, commit: &str) -> String {
    safe_concat(&[repository, &hex(&format!("{url}{commit}"), 5)])
}

/// Service account, role and binding of a GitRepo's work.
#[must_use]
pub fn git_account(repository: &str) -> String {
    safe_concat(&["git", repository])
}

/// Config map with a GitRepo's targets. Only 100 bytes of the JSON are hashed, as upstream does.
#[must_use]
pub fn targets_config_map(repository: &str, json: &str) -> String {
    safe_concat(&[repository, "config", &key_hash(json)])
}

/// ImageScan number `index` of a bundle.
#[must_use]
pub fn image_scan(bundle: &str, index: usize) -> String {
    safe_concat(&["imagescan", bundle, &index.to_string()])
}

/// Hex sha256.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Label `objectset.rio.cattle.io/hash` of a set of objects: who made them, for which owner.
/// `owner_gvk` is `group/version, Kind=Kind` (core: `/v1, Kind=Namespace`); all three are empty
/// when the set has no owner.
#[must_use]
pub fn object_set_hash(set: &str, owner_gvk: &str, owner_name: &str, owner_namespace: &str) -> String {
    use sha1::Digest as _;
    let mut digest = sha1::Sha1::new();
    for part in [set, owner_gvk, owner_name, owner_namespace] {
        digest.update(part.as_bytes());
    }
    hex::encode(digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_hashed() {
        assert_eq!(safe_concat(&[&"a".repeat(64)]), format!("{}-ffe05", "a".repeat(57)));
        assert_eq!(safe_concat(&["a", "b"]), "a-b");
        assert_eq!(safe_concat(&[&"a".repeat(63)]).len(), 63);
        assert_eq!(
            import_token(&"x".repeat(60)),
            format!("import-token-{}-a283d", "x".repeat(44))
        );
    }

    #[test]
    fn limits_leave_a_hash() {
        assert_eq!(limit("12345678", 7), "1-25d55");
        assert_eq!(limit("1-3456789", 8), "1-9b657");
        assert_eq!(limit("1234567", 7), "1234567");
        assert_eq!(limit("1234567", 5), "12345");
    }

    #[test]
    fn release_names_keep_what_they_can() {
        assert_eq!(
            helm_release_name("bundle.name.example.com"),
            "bundle-name-example-com-645ef821"
        );
        assert_eq!(helm_release_name("repo/a/b"), "repo-a-b");
        assert_eq!(helm_release_name("a--b"), "a-b");
        assert_eq!(helm_release_name("--"), hex("--", 24));
        assert!(helm_release_name(&"x".repeat(80)).len() == 53);
    }

    #[test]
    fn registration_names_are_upstreams() {
        assert_eq!(
            cluster_namespace("fleet-local", "local"),
            "cluster-fleet-local-local-1a3d67d0a899"
        );
        assert_eq!(registered_cluster("really-random"), "cluster-08f9d8eb5b7d");
        assert_eq!(
            credential_secret("abc", "def"),
            "c-bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4"
        );
        assert_eq!(
            registration_namespace("cattle-fleet-system"),
            "cattle-fleet-clusters-system"
        );
        assert_eq!(registration_namespace("foo"), "foo-clusters-system");
    }

    #[test]
    fn object_sets_hash_as_upstream_asserts() {
        assert_eq!(
            object_set_hash("fleet-agent-bootstrap", "", "", ""),
            "f399d0b310fbfb28e9667312fdc7a33954e2b8c8"
        );
        assert_eq!(
            object_set_hash("default-remove-metadata", "", "", ""),
            "0f3e1d9d146fa8b290c0de403881184751430e59"
        );
    }
}
