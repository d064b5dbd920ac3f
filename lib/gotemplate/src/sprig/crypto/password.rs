//! Passwords: hashed for storage, and derived from a master password.
//!
//! Upstream concept: bcrypt as Go's library does it, and version 3 of the Master Password algorithm.

use aws_lc_rs::hmac;
use bcrypt::Version;

use crate::failure::Failure;
use crate::sprig::{int, string};
use crate::value::Value;

/// Go's default.
const COST: u32 = 10;

/// What bcrypt reads of a password.
const LONGEST: usize = 72;

pub(super) fn hashed(password: &str) -> Result<String, Failure> {
    let failed = |why: &str| format!("failed to encrypt string with bcrypt: {why}");
    let password = crate::bytes::of(password);
    if password.len() > LONGEST {
        return Ok(failed("bcrypt: password length exceeds 72 bytes"));
    }
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| Failure::new(error.to_string()))?;
    Ok(match bcrypt::hash_with_salt(&password, COST, salt) {
        Ok(parts) => parts.format_for_version(Version::TwoA),
        Err(error) => failed(&error.to_string()),
    })
}

pub(super) fn htpasswd(args: &[Value]) -> Result<Value, Failure> {
    let (user, password) = (string(args, 0), string(args, 1));
    if user.contains(':') {
        return Ok(format!("invalid username: {user}").into());
    }
    Ok(format!("{user}:{}", hashed(password)?).into())
}

const SCOPE: &str = "com.lyndir.masterpassword";

/// The shapes of each kind of password; a letter of a shape names a class of characters.
const SHAPES: [(&str, &[&str]); 6] = [
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

fn class(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

fn scoped(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [SCOPE.as_bytes(), &length.to_be_bytes(), text].concat()
}

/// `derivePassword COUNTER KIND PASSWORD USER SITE`
pub(super) fn derived(args: &[Value]) -> Result<Value, Failure> {
    let kind = string(args, 1);
    let Some((_, shapes)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        return Ok(format!("cannot find password template {kind}").into());
    };
    let text = |index: usize| crate::bytes::of(string(args, index));
    let mut key = [0; 64];
    let cost = scrypt::Params::new(15, 8, 2).map_err(|error| Failure::new(error.to_string()))?;
    scrypt::scrypt(&text(2), &scoped(&text(3)), &cost, &mut key).map_err(|error| Failure::new(error.to_string()))?;
    let counter = u32::try_from(int(args, 0) & 0xffff_ffff).unwrap_or(0);
    let site = [scoped(&text(4)), counter.to_be_bytes().to_vec()].concat();
    let seed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &site);
    let mut seed = seed.as_ref().iter().map(|byte| usize::from(*byte));
    let shape = shapes[seed.next().unwrap_or(0) % shapes.len()];
    let letters = shape.bytes().zip(seed).map(|(letter, seed)| {
        let class = class(letter);
        char::from(class[seed % class.len()])
    });
    Ok(letters.collect::<String>().into())
}
