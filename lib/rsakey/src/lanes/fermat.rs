//! Fermat's test to base 2, for eight candidates at a time.

use crypto_bigint::Uint;
use pulp::NullaryFnOnce;

use super::vector::{Ifma, Moduli};
use crate::prime::LANES;

pub(crate) struct Fermat<'a, const LIMBS: usize, const FOURS: usize, const TWICE: usize> {
    pub(crate) simd: Ifma,
    pub(crate) candidates: &'a [Uint<LIMBS>; LANES],
}

impl<const LIMBS: usize, const FOURS: usize, const TWICE: usize> NullaryFnOnce for Fermat<'_, LIMBS, FOURS, TWICE> {
    /// Which may be prime.
    type Output = [bool; LANES];

    #[inline(always)]
    fn call(self) -> Self::Output {
        let moduli = Moduli::<LIMBS, FOURS, TWICE>::new(self.simd, self.candidates);
        let words = self.candidates.map(Uint::to_words);
        let mut power = moduli.one;
        // To the power of candidate - 1, whose last bit is 0.
        for bit in (1..64 * LIMBS).rev() {
            let doubled = words
                .iter()
                .rev()
                .fold(0, |mask, words| mask << 1 | (words[bit / 64] >> (bit % 64) & 1) as u8);
            moduli.square(&mut power, doubled);
        }
        moduli.square(&mut power, 0);
        let passed = moduli.equal(&power, &moduli.plain(&[Uint::ONE; LANES]));
        std::array::from_fn(|lane| passed >> lane & 1 == 1)
    }
}
