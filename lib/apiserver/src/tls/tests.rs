//! What a client sees of the key material.

use jiff::{Timestamp, ToSpan};
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{ADMIN_KUBECONFIG, CLIENT_CA_KEY, Error, Pki};

fn now() -> Timestamp {
    "2030-01-02T03:04:05Z".parse().unwrap()
}

fn credential(kubeconfig: &str) -> Vec<CertificateDer<'static>> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let data = kubeconfig
        .lines()
        .find_map(|line| line.trim().strip_prefix("client-certificate-data: "))
        .unwrap();
    let pem = STANDARD.decode(data).unwrap();
    CertificateDer::pem_slice_iter(&pem).map(Result::unwrap).collect()
}

#[test]
fn an_administrator_is_recognised_by_the_certificate_in_the_kubeconfig() {
    let pki = Pki::open(None, &[], now()).unwrap();
    let subject = pki
        .verify_client(&credential(&pki.admin_kubeconfig("https://a:1").unwrap()), now())
        .unwrap();
    assert_eq!(subject.common_name, "admin");
    assert_eq!(subject.organizations, ["system:masters"]);
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let ours = Pki::open(None, &[], now()).unwrap();
    let theirs = Pki::open(None, &[], now()).unwrap();
    let chain = credential(&theirs.admin_kubeconfig("https://a:1").unwrap());
    assert!(matches!(
        ours.verify_client(&chain, now()),
        Err(Error::VerifyClient { .. })
    ));
    assert!(matches!(ours.verify_client(&[], now()), Err(Error::ReadClient { .. })));
}

#[test]
fn a_certificate_is_refused_outside_its_time() {
    let pki = Pki::open(None, &[], now()).unwrap();
    let chain = credential(&pki.admin_kubeconfig("https://a:1").unwrap());
    let later = now() + (24 * 366 * 11).hours();
    assert!(matches!(
        pki.verify_client(&chain, later),
        Err(Error::VerifyClient { .. })
    ));
}

#[test]
fn a_restart_keeps_the_authorities_and_the_account_key() {
    use std::os::unix::fs::PermissionsExt;
    let directory = std::env::temp_dir().join(format!("apiserver-tls-{}", std::process::id()));
    let first = Pki::open(Some(&directory), &["example.org".to_owned()], now()).unwrap();
    let chain = credential(&first.admin_kubeconfig("https://a:1").unwrap());
    let second = Pki::open(Some(&directory), &[], now()).unwrap();
    assert_eq!(first.server_ca_pem(), second.server_ca_pem());
    assert_eq!(first.account_key_pem(), second.account_key_pem());
    assert_eq!(second.verify_client(&chain, now()).unwrap().common_name, "admin");
    for file in [ADMIN_KUBECONFIG, CLIENT_CA_KEY] {
        let mode = std::fs::metadata(directory.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
