//! Protobuf's wire format: numbered fields of four shapes.

use super::Error;

/// A field's value before its type is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// Reads a message's fields one by one; ends after the first error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.rest.split_first().ok_or(Error::Broken)?;
            self.rest = rest;
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Error::Broken)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Error::Broken)?;
        self.rest = rest;
        Ok(taken)
    }

    fn field(&mut self) -> Result<(u64, Raw<'a>), Error> {
        let tag = self.varint()?;
        let raw = match tag & 7 {
            0 => Raw::Number(self.varint()?),
            1 => Raw::Fixed(little_endian(self.take(8)?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Error::Broken)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => Raw::Fixed(little_endian(self.take(4)?)),
            _ => return Err(Error::Broken),
        };
        Ok((tag >> 3, raw))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Raw<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
