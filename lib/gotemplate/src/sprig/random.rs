//! Random things: letters, bytes, numbers, UUIDs. The randomness is the operating system's.

use base64::Engine as _;

use super::{int, string};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::Value;

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("randAlphaNum", "i", |machine, args| {
        letters(machine, args, |byte| byte.is_ascii_alphanumeric())
    }),
    ("randAlpha", "i", |machine, args| {
        letters(machine, args, |byte| byte.is_ascii_alphabetic())
    }),
    ("randNumeric", "i", |machine, args| {
        letters(machine, args, |byte| byte.is_ascii_digit())
    }),
    ("randAscii", "i", |machine, args| {
        letters(machine, args, |byte| (32..127).contains(&byte))
    }),
    ("randBytes", "i", |machine, args| {
        if int(args, 0) < 0 {
            return Err("runtime error: makeslice: len out of range".into());
        }
        let count = count(machine, args)?;
        Ok(base64::engine::general_purpose::STANDARD.encode(bytes(count)?).into())
    }),
    ("randInt", "ii", |_, args| {
        let (low, high) = (int(args, 0), int(args, 1));
        let span = high
            .checked_sub(low)
            .and_then(|span| u64::try_from(span).ok())
            .filter(|span| *span > 0);
        let span = span.ok_or_else(|| Failure::new("invalid argument to Intn"))?;
        let offset = i64::try_from(number()? % span).unwrap_or(0);
        Ok(Value::Int(low + offset))
    }),
    ("shuffle", "s", |machine, args| {
        let mut chars: Vec<char> = string(args, 0).chars().collect();
        machine.reserve(chars.len().saturating_mul(8))?;
        let random = bytes(chars.len() * 8)?;
        for (last, random) in (1..chars.len()).rev().zip(random.chunks_exact(8)) {
            let number = random.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
            let other = usize::try_from(number % (last as u64 + 1)).unwrap_or(0);
            chars.swap(last, other);
        }
        Ok(chars.into_iter().collect::<String>().into())
    }),
    ("uuidv4", "", |_, _| {
        let mut random = bytes(16)?;
        if let [_, _, _, _, _, _, version, _, variant, ..] = random.as_mut_slice() {
            *version = (*version & 0x0f) | 0x40;
            *variant = (*variant & 0x3f) | 0x80;
        }
        let text = hex::encode(random);
        Ok(format!(
            "{}-{}-{}-{}-{}",
            &text[..8],
            &text[8..12],
            &text[12..16],
            &text[16..20],
            &text[20..]
        )
        .into())
    }),
];

fn count(machine: &mut Machine<'_>, args: &[Value]) -> Result<usize, Failure> {
    let count = usize::try_from(int(args, 0)).unwrap_or(0);
    machine.reserve(count.saturating_mul(2))?;
    Ok(count)
}

fn bytes(count: usize) -> Result<Vec<u8>, Failure> {
    let mut buffer = vec![0; count];
    getrandom::fill(&mut buffer).map_err(|error| Failure::new(error.to_string()))?;
    Ok(buffer)
}

fn number() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| Failure::new(error.to_string()))
}

/// Letters of a set, each as likely as the others.
fn letters(machine: &mut Machine<'_>, args: &[Value], allowed: fn(u8) -> bool) -> Result<Value, Failure> {
    let wanted = count(machine, args)?;
    let set: Vec<u8> = (0..128).filter(|byte| allowed(*byte)).collect();
    // Values from the incomplete last round of the set would make its first letters likelier.
    let fair = 256 - 256 % set.len();
    let mut text = String::with_capacity(wanted);
    while text.len() < wanted {
        for byte in bytes((wanted - text.len()).saturating_mul(2))? {
            let byte = usize::from(byte);
            if byte < fair && text.len() < wanted {
                text.push(char::from(set.get(byte % set.len()).copied().unwrap_or(b'0')));
            }
        }
    }
    Ok(text.into())
}
