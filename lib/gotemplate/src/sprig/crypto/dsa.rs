//! DSA keys in the old form of the OpenSSL tools. Nothing in Kubernetes wants one; `genPrivateKey "dsa"` has to answer.
//!
//! The domain parameters (2048 and 256 bits) are fixed: they are public and may be shared, and finding new ones takes
//! seconds per key. They were made once with `openssl genpkey -genparam -algorithm DSA`.

use num_bigint::BigUint;

use super::der;
use crate::failure::Failure;

/// The prime modulus.
const P: &str = "cb97679e934727c522ebd2115f8346a8df88698783495bf7d1a83b8fd1a013fff20f9e2c721e9337e20db8f7189b9a32ab10\
    e8ab1b6e6d3d29ca23ae91eb57801ea5d9c7bfcab4e7c382d4183b5ee07a248bba49b11be6d722cb87c05c2f4e7f86062371\
    079071c851a8ce6998962a30c5f57d8b8542d83d85cc7a85badb66552b10291e30a3230894150f7b3da9047ec89e19a372ee\
    792b1e71acf948591d49cbe65a5efb1d110e4889c2a7adc71d588c88928812e4cf687ba58c114faf357728b13bf808058d2a\
    464ee493bfec80f30e0f17e62ea027f96b4b24ca9a85d9bc7bc10e9e03cb0555ad02d1ca77e81feb7b2eabd0082d61a611aa\
    33f7a142292f";

/// The prime order of the subgroup.
const Q: &str = "e91b65f5ab6a4bf823c3806e37484d1347e1a077905769483d4ae0dd0034c375";

/// The generator of the subgroup.
const G: &str = "6adba44dd7ee1e95fd626fb6801120991e3ca6f359979d99fc0a235e3d7be1c99630a598207bd33b1616b260e43f236cd62b\
    b67f5f4ba63a0676f0bacfab74b81f3844fa544d7a1d1c49a10230bafc98bffe8fc7ed2134658eabb8fd6335c09222a7ee32\
    6c95c0a95927bcd5115a057f5411a5b13508c9219b7367df9641886e1d5ff736f7c3180e126e554d63a8e50951de81b3f3b0\
    c17815daee8a499a62e98c0c23196c45018aab45f7330ef8d94efbb1d492d2950f4921f58c3212500eec8af1cabcd7ef7e9c\
    4523642124e2cd0e443d5227c61ccba8312673d0e25d87b25b3a626c3b627456c40f8aa0d960e66d47a891d18f37781fcc84\
    5908863837b9";

/// A new private key: `SEQUENCE { 0, p, q, g, y, x }`.
pub(super) fn generate() -> Result<Vec<u8>, Failure> {
    let number = |hex: &str| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap_or_default();
    let (p, q, g) = (number(P), number(Q), number(G));
    let mut random = [0; 40];
    getrandom::fill(&mut random).map_err(|error| Failure::new(error.to_string()))?;
    // Eight bytes more than the order has make every remainder as likely as the others, as far as anybody can tell.
    let x = BigUint::from_bytes_be(&random) % (&q - 1u32) + 1u32;
    let y = g.modpow(&x, &p);
    let integers = [&BigUint::ZERO, &p, &q, &g, &y, &x];
    let content: Vec<u8> = integers
        .iter()
        .flat_map(|number| der::integer(&number.to_bytes_be()))
        .collect();
    Ok(der::element(der::SEQUENCE, &content))
}
