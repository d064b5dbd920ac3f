//! What a certificate is for becomes its extensions, in the order and with the bytes of Go's `crypto/x509`.
//!
//! Outputs are compared and stored: a certificate of another length moves everything behind it.

use std::net::IpAddr;

use rcgen::CustomExtension;
use sha2::{Digest as _, Sha256};

use super::der::{OCTETS, SEQUENCE, element};

/// `BIT STRING`, `BOOLEAN` and `OBJECT IDENTIFIER`
const BITS: u8 = 0x03;
const BOOLEAN: u8 = 0x01;
const OBJECT: u8 = 0x06;

/// Kinds of names: a DNS name and an address.
const DNS: u8 = 0x82;
const ADDRESS: u8 = 0x87;

/// The key identifier in what tells of an authority.
const KEY_IDENTIFIER: u8 = 0x80;

/// Bytes of a hash that identify a key.
const IDENTIFIER_BYTES: usize = 20;

/// Below 2.5.29, where certificates' extensions are.
const SUBJECT_KEY: u64 = 14;
const KEY_USAGE: u64 = 15;
const ALTERNATIVE_NAMES: u64 = 17;
const CONSTRAINTS: u64 = 19;
const AUTHORITY_KEY: u64 = 35;
const EXTENDED_KEY_USAGE: u64 = 37;

/// 1.3.6.1.5.5.7.3.1 and .2: authentication of servers and of clients.
const SERVER: [u8; 8] = [0x2b, 6, 1, 5, 5, 7, 3, 1];
const CLIENT: [u8; 8] = [0x2b, 6, 1, 5, 5, 7, 3, 2];

/// What a certificate may do besides authenticating both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Sign others.
    Authority,
    /// Nothing.
    Server,
}

/// What else the holder is called.
pub(super) enum AlternativeName {
    /// ASCII only.
    Dns(String),
    Address(IpAddr),
}

/// All extensions. `key` are the bits of the public key, `nameless` says that the subject is empty, `authority` is the
/// signer's key identifier, if it has one.
pub(super) fn all(
    role: Role,
    names: &[AlternativeName],
    nameless: bool,
    key: &[u8],
    authority: Option<&[u8]>,
) -> Vec<CustomExtension> {
    let is_authority = role == Role::Authority;
    // Digital signature and key encipherment, and certificate signing; the first byte counts the unused bits.
    let usage: [u8; 2] = if is_authority { [2, 0xa4] } else { [5, 0xa0] };
    let purposes = [element(OBJECT, &SERVER), element(OBJECT, &CLIENT)].concat();
    let constraints = if is_authority {
        element(BOOLEAN, &[0xff])
    } else {
        Vec::new()
    };
    let mut all = vec![
        extension(KEY_USAGE, true, element(BITS, &usage)),
        extension(EXTENDED_KEY_USAGE, false, element(SEQUENCE, &purposes)),
        extension(CONSTRAINTS, true, element(SEQUENCE, &constraints)),
    ];
    if is_authority {
        let hash = Sha256::digest(key);
        all.push(extension(
            SUBJECT_KEY,
            false,
            element(OCTETS, &hash[..IDENTIFIER_BYTES]),
        ));
    }
    if let Some(identifier) = authority {
        let identifier = element(KEY_IDENTIFIER, identifier);
        all.push(extension(AUTHORITY_KEY, false, element(SEQUENCE, &identifier)));
    }
    if !names.is_empty() {
        let names: Vec<u8> = names.iter().flat_map(alternative_name).collect();
        // Who has no other name must be known by these.
        all.push(extension(ALTERNATIVE_NAMES, nameless, element(SEQUENCE, &names)));
    }
    all
}

fn alternative_name(name: &AlternativeName) -> Vec<u8> {
    match name {
        AlternativeName::Dns(name) => element(DNS, name.as_bytes()),
        AlternativeName::Address(address) => match address.to_canonical() {
            IpAddr::V4(address) => element(ADDRESS, &address.octets()),
            IpAddr::V6(address) => element(ADDRESS, &address.octets()),
        },
    }
}

fn extension(number: u64, critical: bool, content: Vec<u8>) -> CustomExtension {
    let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, number], content);
    extension.set_criticality(critical);
    extension
}
