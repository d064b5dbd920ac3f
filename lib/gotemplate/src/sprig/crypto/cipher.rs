//! `encryptAES` and `decryptAES`: AES-256 in CBC mode, the password's first 32 bytes as key, the random first block
//! before the text, all in base64.

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::failure::Failure;
use crate::sprig::string;
use crate::value::Value;

const BLOCK: usize = 16;

fn failed(_: impl Sized) -> Failure {
    "crypto/cipher: cannot process the text".into()
}

fn key(password: &str) -> Result<UnboundCipherKey, Failure> {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(crate::bytes::of(password).iter()) {
        *to = *from;
    }
    UnboundCipherKey::new(&AES_256, &key).map_err(failed)
}

pub(super) fn encrypt(args: &[Value]) -> Result<Value, Failure> {
    let mut text = crate::bytes::of(string(args, 1)).into_owned();
    if text.is_empty() {
        return Ok("".into());
    }
    let key = PaddedBlockEncryptingKey::cbc_pkcs7(key(string(args, 0))?).map_err(failed)?;
    let mut first = [0; BLOCK];
    getrandom::fill(&mut first).map_err(|error| Failure::new(error.to_string()))?;
    key.less_safe_encrypt(&mut text, EncryptionContext::Iv128(FixedLength::from(first)))
        .map_err(failed)?;
    Ok(STANDARD.encode([first.as_slice(), &text].concat()).into())
}

pub(super) fn decrypt(args: &[Value]) -> Result<Value, Failure> {
    let text = string(args, 1);
    if text.is_empty() {
        return Ok("".into());
    }
    let all = crate::sprig::encode::base64_decoded(text).map_err(Failure::new)?;
    let Some((first, rest)) = all.split_first_chunk::<BLOCK>() else {
        let length = all.len();
        return Err(Failure::new(format!(
            "runtime error: slice bounds out of range [:16] with capacity {length}"
        )));
    };
    if rest.is_empty() {
        return Err("runtime error: index out of range [-1]".into());
    }
    if rest.len() % BLOCK != 0 {
        return Err("crypto/cipher: input not full blocks".into());
    }
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key(string(args, 0))?).map_err(failed)?;
    let mut rest = rest.to_vec();
    let plain = key
        .decrypt(&mut rest, DecryptionContext::Iv128(FixedLength::from(*first)))
        .map_err(|_| Failure::new("runtime error: slice bounds out of range"))?;
    Ok(crate::bytes::text(plain).into())
}
