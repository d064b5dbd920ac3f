//! Private keys: made new, or read from PEM text, and written in the format Go chooses for their kind.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use rcgen::KeyPair;
use rustls_pki_types::PrivateKeyDer;

use super::{der, dsa, pem};
use crate::failure::Failure;

/// What PEM text calls a key of a kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// PKCS #1
    Rsa,
    /// SEC 1
    Ec,
    /// PKCS #8; here only Ed25519.
    Pkcs8,
    /// OpenSSL's
    Dsa,
}

/// A private key.
pub(super) struct PrivateKey {
    format: Format,
    der: Vec<u8>,
}

impl Format {
    fn label(self) -> &'static str {
        match self {
            Self::Rsa => "RSA PRIVATE KEY",
            Self::Ec => "EC PRIVATE KEY",
            Self::Pkcs8 => "PRIVATE KEY",
            Self::Dsa => "DSA PRIVATE KEY",
        }
    }
}

/// The object identifier of RSA keys in PKCS #8.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// The object identifier of elliptic curve keys in PKCS #8.
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

fn failed(_: impl Sized) -> Failure {
    "crypto: cannot make a key".into()
}

impl PrivateKey {
    /// A new RSA key.
    pub(super) fn rsa(size: rsakey::Size) -> Result<Self, Failure> {
        let key = rsakey::PrivateKey::generate(size).map_err(|error| Failure::new(format!("crypto: {error}")))?;
        let version = vec![0];
        let integers = [
            version,
            key.modulus,
            key.public_exponent,
            key.private_exponent,
            key.prime1,
            key.prime2,
            key.exponent1,
            key.exponent2,
            key.coefficient,
        ];
        let content: Vec<u8> = integers.iter().flat_map(|integer| der::integer(integer)).collect();
        let key = Self {
            format: Format::Rsa,
            der: der::element(der::SEQUENCE, &content),
        };
        // The library that signs with it looks whether its numbers belong together.
        key.pair().map(|_| key).ok_or_else(|| failed(()))
    }

    /// A new key on the curve P-256.
    pub(super) fn ec() -> Result<Self, Failure> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).map_err(failed)?;
        let der = pair.private_key().as_der().map_err(failed)?;
        Ok(Self {
            format: Format::Ec,
            der: der.as_ref().to_vec(),
        })
    }

    /// A new Ed25519 key.
    pub(super) fn ed25519() -> Result<Self, Failure> {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let der = Ed25519KeyPair::generate_pkcs8v1(&random).map_err(failed)?;
        Ok(Self {
            format: Format::Pkcs8,
            der: der.as_ref().to_vec(),
        })
    }

    /// A new DSA key.
    pub(super) fn dsa() -> Result<Self, Failure> {
        Ok(Self {
            format: Format::Dsa,
            der: dsa::generate()?,
        })
    }

    /// Reads PEM text.
    pub(super) fn from_pem(text: &str) -> Result<Self, String> {
        let Some((label, content)) = pem::read(text) else {
            return Err("no PEM data in input".into());
        };
        let malformed = |what: &str| format!("{what}: asn1: structure error");
        let (format, what) = match label {
            "PRIVATE KEY" => {
                return Self::from_pkcs8(&content).ok_or_else(|| malformed("decoding PEM as PKCS#8"));
            }
            "RSA PRIVATE KEY" => (Format::Rsa, "parsing RSA private key from PEM"),
            "EC PRIVATE KEY" => (Format::Ec, "parsing EC private key from PEM"),
            "DSA PRIVATE KEY" => (Format::Dsa, "parsing DSA private key from PEM"),
            other => return Err(format!("no private key data in PEM block of type {other}")),
        };
        let key = Self { format, der: content };
        let valid = match format {
            Format::Dsa => der::inside(der::SEQUENCE, &key.der).is_some_and(|parts| parts.len() == 6),
            _ => key.pair().is_some(),
        };
        if valid { Ok(key) } else { Err(malformed(what)) }
    }

    /// Unwraps what has a format of its own.
    fn from_pkcs8(pkcs8: &[u8]) -> Option<Self> {
        let parts = der::inside(der::SEQUENCE, pkcs8)?;
        let (algorithm, (tag, inner)) = (parts.get(1)?.1, *parts.get(2)?);
        let (_, algorithm, parameters) = der::first(algorithm)?;
        if tag != der::OCTETS {
            return None;
        }
        let key = match algorithm {
            RSA => Self {
                format: Format::Rsa,
                der: inner.to_vec(),
            },
            EC => Self {
                format: Format::Ec,
                der: with_curve(inner, parameters)?,
            },
            _ => Self {
                format: Format::Pkcs8,
                der: pkcs8.to_vec(),
            },
        };
        key.pair().is_some().then_some(key)
    }

    /// PEM text.
    pub(super) fn to_pem(&self) -> String {
        pem::write(self.format.label(), &self.der)
    }

    /// What signs. `None`: the key cannot sign certificates, or is broken.
    pub(super) fn pair(&self) -> Option<KeyPair> {
        let der = self.der.clone();
        let der = match self.format {
            Format::Rsa => PrivateKeyDer::Pkcs1(der.into()),
            Format::Ec => PrivateKeyDer::Sec1(der.into()),
            Format::Pkcs8 => PrivateKeyDer::Pkcs8(der.into()),
            Format::Dsa => return None,
        };
        KeyPair::try_from(&der).ok()
    }
}

/// A SEC 1 key names its curve itself once it stands outside of PKCS #8, which names it beside the key.
fn with_curve(sec1: &[u8], curve: &[u8]) -> Option<Vec<u8>> {
    /// `[0] EXPLICIT`
    const CURVE: u8 = 0xa0;
    let parts = der::inside(der::SEQUENCE, sec1)?;
    if parts.iter().any(|(tag, _)| *tag == CURVE) {
        return Some(sec1.to_vec());
    }
    let mut content = Vec::with_capacity(sec1.len() + curve.len() + 2);
    for (index, (tag, part)) in parts.iter().enumerate() {
        if index == 2 {
            content.extend(der::element(CURVE, curve));
        }
        content.extend(der::element(*tag, part));
    }
    if parts.len() < 3 {
        content.extend(der::element(CURVE, curve));
    }
    Some(der::element(der::SEQUENCE, &content))
}
