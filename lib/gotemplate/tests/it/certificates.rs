//! Certificates hold what was asked for, and are signed by whom they name.

use gotemplate::{Engine, sprig};
use serde_json::json;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate, parse_x509_pem};

fn render(text: &str) -> String {
    let engine = Engine::new().functions(sprig::text());
    engine
        .render("t", text, &json!({}))
        .unwrap_or_else(|error| error.to_string())
}

fn parts(text: &str) -> Vec<Vec<u8>> {
    let printed = render(text);
    let blocks = printed.split_inclusive("-----END CERTIFICATE-----\n");
    blocks
        .map(|pem| parse_x509_pem(pem.as_bytes()).expect("a certificate").1.contents)
        .collect()
}

#[test]
fn an_authority_signs_what_names_it() {
    let found = parts(
        "{{ $ca := genCA \"my-ca\" 365 }}{{ $c := genSignedCert \"foo\" (list \"10.0.0.1\" \"::1\") \
         (list \"a.example.com\" \"*.b\") 30 $ca }}{{ $ca.Cert }}{{ $c.Cert }}",
    );
    let (_, authority) = X509Certificate::from_der(&found[0]).unwrap();
    let (_, leaf) = X509Certificate::from_der(&found[1]).unwrap();
    assert!(authority.is_ca() && !leaf.is_ca());
    assert_eq!(authority.subject().to_string(), "CN=my-ca");
    assert_eq!(leaf.issuer(), authority.subject());
    assert_eq!(leaf.subject().to_string(), "CN=foo");
    leaf.verify_signature(Some(authority.public_key())).unwrap();
    authority.verify_signature(None).unwrap();
    let days = leaf.validity().not_after.timestamp() - leaf.validity().not_before.timestamp();
    assert_eq!(days, 30 * 86_400);
    let names = leaf.subject_alternative_name().unwrap().unwrap().value;
    let shown: Vec<String> = names
        .general_names
        .iter()
        .map(|name| match name {
            GeneralName::DNSName(name) => (*name).to_owned(),
            GeneralName::IPAddress(bytes) => bytes.len().to_string(),
            other => other.to_string(),
        })
        .collect();
    assert_eq!(shown, ["a.example.com", "*.b", "4", "16"]);
    let usage = leaf.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.server_auth && usage.client_auth);
    let points_back = leaf
        .extensions()
        .iter()
        .any(|extension| matches!(extension.parsed_extension(), ParsedExtension::AuthorityKeyIdentifier(_)));
    assert!(points_back);
}

/// Extensions by number, whether they are critical, and their bytes; only that there is one of what identifies a key.
fn extensions(certificate: &X509Certificate<'_>) -> Vec<(String, bool, Vec<u8>)> {
    let found = certificate.extensions().iter();
    found
        .map(|extension| {
            let value = match extension.parsed_extension() {
                ParsedExtension::SubjectKeyIdentifier(_) | ParsedExtension::AuthorityKeyIdentifier(_) => {
                    vec![u8::try_from(extension.value.len()).expect("an extension of few bytes")]
                }
                _ => extension.value.to_vec(),
            };
            (extension.oid.to_id_string(), extension.critical, value)
        })
        .collect()
}

/// What Go makes of the bits of a key.
fn identifier(certificate: &X509Certificate<'_>) -> Vec<u8> {
    let bits = &certificate.public_key().subject_public_key.data;
    <sha2::Sha256 as sha2::Digest>::digest(bits)[..20].to_vec()
}

#[test]
fn certificates_consist_of_what_helms_do() {
    let table: Vec<serde_json::Value> = serde_json::from_str(include_str!("../data/certificates.json")).unwrap();
    assert_eq!(table.len(), 11);
    for case in &table {
        let template = case["template"].as_str().unwrap();
        let recorded = parse_x509_pem(case["certificate"].as_str().unwrap().as_bytes())
            .unwrap()
            .1;
        let made = parts(template);
        let (theirs, ours) = (
            recorded.parse_x509().unwrap(),
            X509Certificate::from_der(&made[0]).unwrap().1,
        );
        assert_eq!(extensions(&ours), extensions(&theirs), "{template}");
        assert_eq!(ours.subject().as_raw(), theirs.subject().as_raw(), "{template}");
        assert_eq!(ours.issuer().as_raw(), theirs.issuer().as_raw(), "{template}");
        assert_eq!(ours.signature_algorithm, theirs.signature_algorithm, "{template}");
        for certificate in [&ours, &theirs] {
            for extension in certificate.extensions() {
                if let ParsedExtension::SubjectKeyIdentifier(found) = extension.parsed_extension() {
                    assert_eq!(found.0, identifier(certificate), "{template}");
                }
            }
        }
    }
}

#[test]
fn given_keys_of_every_kind_are_used() {
    for (kind, label) in [("ecdsa", "EC PRIVATE KEY"), ("ed25519", "PRIVATE KEY")] {
        let text = format!(
            "{{{{ $k := genPrivateKey {kind:?} }}}}{{{{ $c := genCAWithKey \"ca\" 3 $k }}}}{{{{ eq $k $c.Key }}}}\
             {{{{ $s := genSignedCertWithKey \"x\" nil nil 3 $c $k }}}}{{{{ eq $s.Key $k }}}}{{{{ $k }}}}"
        );
        let printed = render(&text);
        assert!(
            printed.starts_with(&format!("truetrue-----BEGIN {label}-----")),
            "{printed}"
        );
    }
    let other = "{{ $a := genCA \"a\" 3 }}{{ $b := genCA \"b\" 3 }}\
                 {{ $m := buildCustomCert (b64enc $a.Cert) (b64enc $b.Key) }}{{ genSignedCert \"x\" nil nil 3 $m }}";
    assert!(render(other).ends_with("x509: provided PrivateKey doesn't match parent's PublicKey"));
    let dsa = "{{ genCAWithKey \"ca\" 3 (genPrivateKey \"dsa\") }}";
    assert!(render(dsa).ends_with("x509: certificate private key does not implement crypto.Signer"));
}

#[test]
fn bad_input_is_told_in_sprigs_words() {
    for (text, words) in [
        (
            "{{ genSelfSignedCert \"x\" (list \"bad\") nil 3 }}",
            "error parsing ip: bad",
        ),
        (
            "{{ genSelfSignedCert \"x\" (list 1) nil 3 }}",
            "error parsing ip: 1 is not a string",
        ),
        (
            "{{ genCAWithKey \"x\" 3 \"bad\" }}",
            "parsing private key: no PEM data in input",
        ),
        (
            "{{ buildCustomCert \"x\" \"y\" }}",
            "unable to decode base64 certificate",
        ),
        ("{{ genPrivateKey \"x\" }}", "Unknown type x"),
        ("{{ htpasswd \"a:b\" \"c\" }}", "invalid username: a:b"),
        (
            "{{ decryptAES \"k\" \"YWJj\" }}",
            "slice bounds out of range [:16] with capacity 3",
        ),
        (
            "{{ bcrypt (repeat 80 \"x\") }}",
            "bcrypt: password length exceeds 72 bytes",
        ),
    ] {
        assert!(render(text).ends_with(words), "{text}: {}", render(text));
    }
}

#[test]
fn passwords_are_derived_as_everywhere() {
    let derived = "{{ derivePassword 1 \"long\" \"password\" \"user\" \"example.com\" }}";
    assert_eq!(render(derived), "ZedaFaxcZaso9*");
    assert_eq!(render("{{ encryptAES \"k\" \"text\" | decryptAES \"k\" }}"), "text");
    let hash = render("{{ htpasswd \"u\" \"p\" }}");
    assert!(bcrypt::verify("p", hash.strip_prefix("u:").unwrap()).unwrap(), "{hash}");
}
