//! Turns a serving certificate and the clients' authority into a rustls server configuration.
//!
//! The handshake only proves that the client holds the key of the certificate it shows; whether
//! that certificate is trusted is asked later, per connection, and answered 401. Mirrors Go's
//! `tls.RequestClientCert` in kube-apiserver.

use std::sync::Arc;

use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use crate::tls::Error;

/// The protocols offered, best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The verifier that decides whether a client's certificate comes from `authority_pem`.
pub(super) fn client_verifier(authority_pem: &str) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    const WHAT: &str = "client authority";
    let certificate = certificates(WHAT, authority_pem)?;
    let mut roots = RootCertStore::empty();
    for certificate in certificate {
        roots.add(certificate).map_err(|source| Error::Configure {
            what: WHAT,
            source: source.into(),
        })?;
    }
    let verifier: Arc<dyn ClientCertVerifier> =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(aws_lc_rs::default_provider()))
            .allow_unauthenticated()
            .build()
            .map_err(|source| Error::Configure {
                what: WHAT,
                source: source.into(),
            })?;
    Ok(verifier)
}

/// The configuration for accepting connections: HTTP/2 and 1.1, optional client certificates,
/// resumption with stateless tickets so that a returning client costs no signature and no memory.
pub(super) fn server_config(
    certificate_pem: &str,
    key_pem: &str,
    verifier: Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, Error> {
    const WHAT: &str = "serving certificate";
    let configure = |source: rustls::Error| Error::Configure {
        what: WHAT,
        source: source.into(),
    };
    let chain = certificates(WHAT, certificate_pem)?;
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(|source| Error::ParseStored {
        what: "serving key",
        source: source.into(),
    })?;
    let provider: Arc<CryptoProvider> = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(configure)?
        .with_client_cert_verifier(Arc::new(Deferred { verifier }))
        .with_single_cert(chain, key)
        .map_err(configure)?;
    config.alpn_protocols = PROTOCOLS.iter().map(|protocol| protocol.to_vec()).collect();
    config.ticketer = aws_lc_rs::Ticketer::new().map_err(configure)?;
    Ok(Arc::new(config))
}

fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| Error::ParseStored {
            what,
            source: source.into(),
        })
}

/// Accepts any certificate whose key the client holds. Safe only because nothing reads the peer's
/// certificate without [`crate::tls::Pki::verify_client`].
#[derive(Debug)]
struct Deferred {
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientCertVerifier for Deferred {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
