//! Keys, certificates, passwords and encryption.
//!
//! What they make is random: no two renders agree. A key or a password hash costs a template many steps, so that a
//! loop around them ends.

mod certificate;
mod cipher;
mod der;
mod dsa;
mod extension;
mod key;
mod password;
mod pem;

use rsakey::Size;

use self::key::PrivateKey;
use super::string;
use crate::failure::Failure;
use crate::function::{Functions, Native, Param, Signature};
use crate::machine::Machine;
use crate::value::Value;

const TABLE: &[(&str, &str, Native)] = &[
    ("genPrivateKey", "s", private_key),
    ("genCA", "si", |machine, args| {
        costly(machine)?;
        certificate::authority(args, &certificate::new_key()?)
    }),
    ("genCAWithKey", "sis", |machine, args| {
        costly(machine)?;
        certificate::authority(args, &given(args, 2)?)
    }),
    ("genSelfSignedCert", "slli", |machine, args| {
        costly(machine)?;
        certificate::self_signed(args, &certificate::new_key()?)
    }),
    ("genSelfSignedCertWithKey", "sllis", |machine, args| {
        costly(machine)?;
        certificate::self_signed(args, &given(args, 4)?)
    }),
    ("buildCustomCert", "ss", |_, args| certificate::custom(args)),
    ("bcrypt", "s", |machine, args| {
        costly(machine)?;
        Ok(password::hashed(string(args, 0))?.into())
    }),
    ("htpasswd", "ss", |machine, args| {
        costly(machine)?;
        password::htpasswd(args)
    }),
    ("derivePassword", "ussss", |machine, args| {
        costly(machine)?;
        password::derived(args)
    }),
    ("encryptAES", "ss", |_, args| cipher::encrypt(args)),
    ("decryptAES", "ss", |_, args| cipher::decrypt(args)),
];

/// Steps of a key or a password hash, each of which takes some 50 ms: a template may make some dozens.
const STEPS: usize = 500_000;

pub(super) fn functions() -> Functions<'static> {
    let authority = Param::Struct(certificate::TYPE);
    let signature = |params: &[Param]| Signature {
        params: params.into(),
        rest: None,
    };
    use Param::{Int, List, Str};
    Functions::table(TABLE)
        .with_signature(
            "genSignedCert",
            signature(&[Str, List, List, Int, authority]),
            |machine, args| {
                costly(machine)?;
                certificate::signed(args, &certificate::new_key()?)
            },
        )
        .with_signature(
            "genSignedCertWithKey",
            signature(&[Str, List, List, Int, authority, Str]),
            |machine, args| {
                costly(machine)?;
                certificate::signed(args, &given(args, 5)?)
            },
        )
}

fn costly(machine: &mut Machine<'_>) -> Result<(), Failure> {
    machine.work(STEPS)
}

fn given(args: &[Value], index: usize) -> Result<PrivateKey, Failure> {
    PrivateKey::from_pem(string(args, index)).map_err(|error| Failure::new(format!("parsing private key: {error}")))
}

fn private_key(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    costly(machine)?;
    let key = match string(args, 0) {
        "" | "rsa" => {
            // Twice the length takes some eight times as long.
            machine.work(STEPS * 5)?;
            PrivateKey::rsa(Size::Bits4096)
        }
        "dsa" => PrivateKey::dsa(),
        "ecdsa" => PrivateKey::ec(),
        "ed25519" => PrivateKey::ed25519(),
        other => return Ok(format!("Unknown type {other}").into()),
    };
    Ok(key?.to_pem().into())
}
