//! Certificates: authorities, certificates they sign, and certificates that sign themselves.
//!
//! Upstream concept: sprig's `certificate` struct and the template of its certificates: a common name, alternative
//! names, 128 random bits of serial number, both server and client authentication.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, Issuer, KeyPair, PublicKeyData, SerialNumber};
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::X509Certificate;

use super::extension::{self, AlternativeName, Role};
use super::key::PrivateKey;
use super::pem;
use crate::failure::Failure;
use crate::object::GoObject;
use crate::sprig::{any, int, string};
use crate::value::{Text, Value};

/// The Go type, which functions that take an authority ask for.
pub(super) const TYPE: &str = "sprig.certificate";

const LABEL: &str = "CERTIFICATE";

const DAY: u64 = 24 * 60 * 60;

/// `sprig.certificate`
struct Certificate {
    cert: Text,
    key: Text,
}

impl GoObject for Certificate {
    fn type_name(&self) -> String {
        TYPE.into()
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.clone().into()),
            "Key" => Some(self.key.clone().into()),
            _ => None,
        }
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        ["Cert", "Key"]
            .into_iter()
            .filter_map(|name| Some((Value::str(name), self.field(name)?)))
            .collect()
    }
}

/// A certificate and its key, both given as base64 of PEM text.
pub(super) fn custom(args: &[Value]) -> Result<Value, Failure> {
    let decoded = |index: usize, what: &str| {
        STANDARD
            .decode(string(args, index))
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .ok_or_else(|| Failure::new(format!("unable to decode base64 {what}")))
    };
    let cert = decoded(0, "certificate")?;
    let key = decoded(1, "private key")?;
    let Some((_, content)) = pem::read(&cert) else {
        return Err("unable to decode certificate".into());
    };
    if x509_parser::parse_x509_certificate(&content).is_err() {
        return Err("error parsing certificate: decodedCert.Bytes: x509: malformed certificate".into());
    }
    PrivateKey::from_pem(&key).map_err(|error| Failure::new(format!("error parsing private key: {error}")))?;
    Ok(object(cert, key))
}

/// An authority that signs itself.
pub(super) fn authority(args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let params = template(string(args, 0), int(args, 1))?;
    signed_by_itself(params, Role::Authority, &[], key)
}

/// A certificate that signs itself but nothing else.
pub(super) fn self_signed(args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let params = template(string(args, 0), int(args, 3))?;
    let names = alternative_names(any(args, 1), any(args, 2))?;
    signed_by_itself(params, Role::Server, &names, key)
}

/// A certificate that an authority signs.
pub(super) fn signed(args: &[Value], key: &PrivateKey) -> Result<Value, Failure> {
    let name = string(args, 0);
    let mut params = template(name, int(args, 3))?;
    let names = alternative_names(any(args, 1), any(args, 2))?;
    let part = |name: &str| match any(args, 4) {
        Value::Object(object) => object.field(name),
        _ => None,
    };
    let (cert, signer) = (part("Cert").unwrap_or_default(), part("Key").unwrap_or_default());
    let Some((_, cert)) = cert.as_str().and_then(pem::read) else {
        return Err("unable to decode certificate".into());
    };
    let malformed = || Failure::new("error parsing certificate: decodedCert.Bytes: x509: malformed certificate");
    let (_, parsed) = x509_parser::parse_x509_certificate(&cert).map_err(|_| malformed())?;
    let signer = PrivateKey::from_pem(signer.as_str().unwrap_or_default())
        .map_err(|error| Failure::new(format!("error parsing private key: {error}")))?;
    let signer = pair(&signer)?;
    if signer.subject_public_key_info() != parsed.tbs_certificate.subject_pki.raw {
        return Err("error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey".into());
    }
    let issuer = Issuer::from_ca_cert_der(&cert.as_slice().into(), signer).map_err(|_| malformed())?;
    let key_pair = pair(key)?;
    // Whoever has the authority's own name is not told apart from it.
    let authority = key_identifier(&parsed).filter(|_| !same_name(&parsed, name));
    params.custom_extensions = extension::all(Role::Server, &names, name.is_empty(), key_pair.der_bytes(), authority);
    let cert = params.signed_by(&key_pair, &issuer).map_err(|error| unmade(&error))?;
    Ok(object(pem::write(LABEL, cert.der()), key.to_pem()))
}

/// Whether a certificate's subject consists of that common name, or of nothing where there is none.
fn same_name(certificate: &X509Certificate<'_>, name: &str) -> bool {
    let mut parts = certificate.subject().iter_attributes();
    match parts.next() {
        None => name.is_empty(),
        Some(only) => {
            let common = *only.attr_type() == x509_parser::oid_registry::OID_X509_COMMON_NAME;
            parts.next().is_none() && common && only.as_str().is_ok_and(|text| text == name)
        }
    }
}

fn key_identifier<'c>(certificate: &'c X509Certificate<'_>) -> Option<&'c [u8]> {
    certificate
        .extensions()
        .iter()
        .find_map(|found| match found.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(identifier) => Some(identifier.0),
            _ => None,
        })
}

/// The key of a certificate for which none was given.
pub(super) fn new_key() -> Result<PrivateKey, Failure> {
    PrivateKey::rsa(rsakey::Size::Bits2048)
}

fn object(cert: String, key: String) -> Value {
    Value::Object(Rc::new(Certificate {
        cert: cert.into(),
        key: key.into(),
    }))
}

fn signed_by_itself(
    mut params: CertificateParams,
    role: Role,
    names: &[AlternativeName],
    key: &PrivateKey,
) -> Result<Value, Failure> {
    let pair = pair(key)?;
    let nameless = params.distinguished_name.iter().next().is_none();
    params.custom_extensions = extension::all(role, names, nameless, pair.der_bytes(), None);
    let cert = params.self_signed(&pair).map_err(|error| unmade(&error))?;
    Ok(object(pem::write(LABEL, cert.der()), key.to_pem()))
}

fn pair(key: &PrivateKey) -> Result<KeyPair, Failure> {
    let unable = "error creating certificate: x509: certificate private key does not implement crypto.Signer";
    key.pair().ok_or_else(|| unable.into())
}

fn unmade(error: &rcgen::Error) -> Failure {
    Failure::new(format!("error creating certificate: {error}"))
}

/// What all certificates have in common, but for their extensions.
fn template(name: &str, days: i64) -> Result<CertificateParams, Failure> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    if !name.is_empty() {
        params.distinguished_name.push(DnType::CommonName, name_value(name));
    }
    let mut serial = [0; 16];
    getrandom::fill(&mut serial).map_err(|error| Failure::new(error.to_string()))?;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let now = SystemTime::now();
    let span = Duration::from_secs(days.unsigned_abs().saturating_mul(DAY));
    let end = if days < 0 {
        now.checked_sub(span)
    } else {
        now.checked_add(span)
    };
    params.not_before = now.into();
    // A certificate's calendar ends with the year 9999.
    params.not_after = end
        .filter(|end| {
            end.duration_since(SystemTime::UNIX_EPOCH)
                .is_ok_and(|since| since.as_secs() < 253_402_300_800)
        })
        .ok_or_else(|| {
            Failure::new("error creating certificate: asn1: structure error: cannot represent time as GeneralizedTime")
        })?
        .into();
    Ok(params)
}

/// Go writes a printable string where the text allows one.
fn name_value(text: &str) -> DnValue {
    let printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    match text.try_into() {
        Ok(short) if text.bytes().all(printable) => DnValue::PrintableString(short),
        _ => DnValue::Utf8String(text.to_owned()),
    }
}

fn alternative_names(addresses: &Value, names: &Value) -> Result<Vec<AlternativeName>, Failure> {
    let items = |value: &Value| match value {
        Value::List(list) => list.to_vec(),
        _ => Vec::new(),
    };
    // Addresses are checked first, but stand last.
    let mut found = Vec::new();
    for item in items(addresses) {
        let Some(text) = item.as_str() else {
            let shown = crate::print::shown(&item);
            return Err(Failure::new(format!("error parsing ip: {shown} is not a string")));
        };
        let address: IpAddr = text
            .parse()
            .map_err(|_| Failure::new(format!("error parsing ip: {text}")))?;
        found.push(AlternativeName::Address(address));
    }
    let mut all = Vec::new();
    for item in items(names) {
        let Some(text) = item.as_str() else {
            let shown = crate::print::shown(&item);
            return Err(Failure::new(format!(
                "error processing alternate dns name: {shown} is not a string"
            )));
        };
        if !text.is_ascii() {
            return Err(Failure::new(format!(
                "error creating certificate: x509: {} cannot be encoded as an IA5String",
                crate::quote::quote(text)
            )));
        }
        all.push(AlternativeName::Dns(text.to_owned()));
    }
    all.extend(found);
    Ok(all)
}
