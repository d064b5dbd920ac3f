//! Miller and Rabin's test of one candidate, with eight bases at a time.

use crypto_bigint::Uint;
use pulp::NullaryFnOnce;

use super::vector::{Ifma, Moduli};
use crate::prime::LANES;

/// Bits of the exponent that are taken together.
const WINDOW: usize = 4;

pub(crate) struct MillerRabin<'a, const LIMBS: usize, const FOURS: usize, const TWICE: usize> {
    pub(crate) simd: Ifma,
    pub(crate) candidate: &'a Uint<LIMBS>,
    pub(crate) bases: &'a [Uint<LIMBS>; LANES],
}

impl<const LIMBS: usize, const FOURS: usize, const TWICE: usize> NullaryFnOnce
    for MillerRabin<'_, LIMBS, FOURS, TWICE>
{
    /// Whether it may be prime: no base tells otherwise.
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let moduli = Moduli::<LIMBS, FOURS, TWICE>::new(self.simd, &[*self.candidate; LANES]);
        let minus_one = self.candidate.wrapping_sub(&Uint::ONE);
        let halvings = minus_one.trailing_zeros_vartime();
        let odd = minus_one.shr_vartime(halvings).to_words();
        // Random numbers are as good as Montgomery's form of others.
        let base = moduli.plain(self.bases);
        let mut powers = [moduli.one; 1 << WINDOW];
        for exponent in 1..powers.len() {
            powers[exponent] = powers[exponent - 1];
            moduli.multiply(&mut powers[exponent], &base);
        }
        let mut power = moduli.one;
        for bit in (0..64 * LIMBS).step_by(WINDOW).rev() {
            for _ in 0..WINDOW {
                moduli.square(&mut power, 0);
            }
            let exponent = odd[bit / 64] >> (bit % 64) & ((1 << WINDOW) - 1);
            moduli.multiply(&mut power, &powers[exponent as usize]);
        }
        let minus_one = moduli.plain(&[minus_one; LANES]);
        let mut passed = moduli.equal(&power, &moduli.plain(&[Uint::ONE; LANES])) | moduli.equal(&power, &minus_one);
        for _ in 1..halvings {
            moduli.square(&mut power, 0);
            passed |= moduli.equal(&power, &minus_one);
        }
        passed == u8::MAX
    }
}
