//! Arithmetic in decimal, as sprig does it for `addf`, `subf`, `mulf` and `divf`: sums and products are exact, a
//! quotient has sixteen decimals, and only the result becomes a float again.

use num_bigint::BigInt;

/// Decimals of a quotient.
const DECIMALS: i32 = 16;

/// `digits` times ten to the power of `exponent`.
#[derive(Clone)]
pub(super) struct Decimal {
    digits: BigInt,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads as this float. `None`: not a number.
    pub(super) fn from_float(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            exponent: exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?,
        })
    }

    /// The nearest float.
    pub(super) fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(0.0)
    }

    fn at(&self, exponent: i32) -> BigInt {
        &self.digits * power(self.exponent - exponent)
    }

    fn combined(&self, other: &Self, operation: impl Fn(BigInt, BigInt) -> BigInt) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self {
            digits: operation(self.at(exponent), other.at(exponent)),
            exponent,
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.combined(other, |left, right| left + right)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.combined(other, |left, right| left - right)
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        Self {
            digits: &self.digits * &other.digits,
            exponent: self.exponent + other.exponent,
        }
    }

    /// Rounded half away from zero. `None`: division by zero.
    pub(super) fn over(&self, other: &Self) -> Option<Self> {
        if other.digits == BigInt::ZERO {
            return None;
        }
        let shift = self.exponent - other.exponent + DECIMALS;
        let (left, right) = if shift >= 0 {
            (&self.digits * power(shift), other.digits.clone())
        } else {
            (self.digits.clone(), &other.digits * power(-shift))
        };
        let (mut quotient, rest) = (&left / &right, &left % &right);
        if rest.magnitude() * 2u32 >= *right.magnitude() {
            quotient += if left.sign() == right.sign() { 1 } else { -1 };
        }
        Some(Self {
            digits: quotient,
            exponent: -DECIMALS,
        })
    }
}

fn power(exponent: i32) -> BigInt {
    BigInt::from(10).pow(exponent.unsigned_abs())
}
