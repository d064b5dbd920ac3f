//! A certificate authority: a key and its self-signed certificate, which turn a subject into a
//! signed certificate. It never decides who may have one.

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::tls::Error;

/// Nobody rotates the authorities of an embedded server, so they outlive the hardware.
const AUTHORITY_YEARS: i32 = 20;

/// Issued anew at every start, so this only bounds how long one process may run.
const LEAF_YEARS: i32 = 10;

/// A key pair with a certificate that signs others.
pub(super) struct Authority {
    certificate_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and the key it is for, both PEM.
pub(super) struct Issued {
    pub(super) certificate_pem: String,
    pub(super) key_pem: String,
}

impl Authority {
    /// Makes a new authority called `name`.
    pub(super) fn create(name: &'static str, now: Timestamp) -> Result<(Authority, String), Error> {
        let issue = |source| Error::Issue { what: name, source };
        let key = KeyPair::generate().map_err(issue)?;
        let key_pem = key.serialize_pem();
        let certificate_pem = authority_params(name, now).self_signed(&key).map_err(issue)?.pem();
        let issuer = Issuer::new(authority_params(name, now), key);
        Ok((
            Authority {
                certificate_pem,
                issuer,
            },
            key_pem,
        ))
    }

    /// Takes up an authority that was made earlier by [`Authority::create`] with the same `name`.
    pub(super) fn load(
        name: &'static str,
        certificate_pem: String,
        key_pem: &str,
        now: Timestamp,
    ) -> Result<Authority, Error> {
        let key = KeyPair::from_pem(key_pem).map_err(|source| Error::ParseStored {
            what: name,
            source: source.into(),
        })?;
        let issuer = Issuer::new(authority_params(name, now), key);
        Ok(Authority {
            certificate_pem,
            issuer,
        })
    }

    /// The authority's own certificate, PEM.
    pub(super) fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// A server's certificate for host names and IP addresses.
    pub(super) fn issue_server(&self, names: &[String], now: Timestamp) -> Result<Issued, Error> {
        const WHAT: &str = "serving certificate";
        let mut params =
            CertificateParams::new(names.to_vec()).map_err(|source| Error::Issue { what: WHAT, source })?;
        params.distinguished_name = subject("kube-apiserver", None);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(WHAT, params, now)
    }

    /// A client's certificate for a user, as member of at most one group.
    pub(super) fn issue_client(&self, user: &str, group: Option<&str>, now: Timestamp) -> Result<Issued, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = subject(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue("client certificate", params, now)
    }

    fn issue(&self, what: &'static str, mut params: CertificateParams, now: Timestamp) -> Result<Issued, Error> {
        let issue = |source| Error::Issue { what, source };
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        validity(&mut params, now, LEAF_YEARS);
        let key = KeyPair::generate().map_err(issue)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(issue)?;
        Ok(Issued {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }
}

/// The subject depends on the name only, so a loaded authority signs under the subject it was made with.
fn authority_params(name: &str, now: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = subject(name, None);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    validity(&mut params, now, AUTHORITY_YEARS);
    params
}

fn subject(common_name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    if let Some(organization) = organization {
        subject.push(DnType::OrganizationName, organization);
    }
    subject.push(DnType::CommonName, common_name);
    subject
}

/// Valid from yesterday on, because clocks of edge machines lag.
fn validity(params: &mut CertificateParams, now: Timestamp, years: i32) {
    let today = now.to_zoned(TimeZone::UTC).date();
    let first = today.saturating_sub(1.day());
    let last = today.saturating_add(years.years());
    let (year, month, day) = parts(first);
    params.not_before = rcgen::date_time_ymd(year, month, day);
    let (year, month, day) = parts(last);
    params.not_after = rcgen::date_time_ymd(year, month, day);
}

fn parts(date: Date) -> (i32, u8, u8) {
    // Months and days are positive and below 32.
    (
        i32::from(date.year()),
        date.month().unsigned_abs(),
        date.day().unsigned_abs(),
    )
}
