//! The certificates of a control plane: one CA, the server's, the administrator's (group
//! `system:masters`), and the key pair that signs service account tokens. Files in one directory.

use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::{Error, io};

pub(crate) fn write_all(directory: &Path) -> Result<(), Error> {
    let write =
        |name: &str, text: String| std::fs::write(directory.join(name), text).map_err(io(format!("write {name}")));
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::new())?;
    ca.distinguished_name = name("test-ca", None);
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    write("ca.crt", ca.self_signed(&ca_key)?.pem())?;
    let issuer = Issuer::new(ca, ca_key);

    let names = ["localhost", "kubernetes.default.svc", "127.0.0.1", "10.0.0.1"];
    let mut server = CertificateParams::new(names.map(str::to_owned).to_vec())?;
    server.distinguished_name = name("kube-apiserver", None);
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_key = KeyPair::generate()?;
    write("server.crt", server.signed_by(&server_key, &issuer)?.pem())?;
    write("server.key", server_key.serialize_pem())?;

    let mut admin = CertificateParams::new(Vec::new())?;
    admin.distinguished_name = name("admin", Some("system:masters"));
    admin.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let admin_key = KeyPair::generate()?;
    write("admin.crt", admin.signed_by(&admin_key, &issuer)?.pem())?;
    write("admin.key", admin_key.serialize_pem())?;

    let accounts = KeyPair::generate()?;
    write("accounts.key", accounts.serialize_pem())?;
    write("accounts.pub", accounts.public_key_pem())
}

fn name(common_name: &str, organisation: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organisation) = organisation {
        name.push(DnType::OrganizationName, organisation);
    }
    name.push(DnType::CommonName, common_name);
    name
}
