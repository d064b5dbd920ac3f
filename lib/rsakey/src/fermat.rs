//! Fermat's test to base 2, for eight candidates at a time where the processor has AVX-512 IFMA.
//!
//! It only throws out: what fails is composite, what passes is tested for real by the caller. So a slip in here could make
//! a search long, but never a key weak.
//!
//! Eight numbers lie side by side, one in each lane of a vector, in digits of 52 bits; every step of the arithmetic is
//! taken for all of them at once. Numbers are multiplied as Montgomery does, with `R = 2^(52 * DIGITS)`, and kept below
//! `R` instead of below the modulus: there are `LIMBS` bits to spare, so that doubling one needs no reduction.

use std::arch::x86_64::__m512i;

use crypto_bigint::Uint;
use pulp::NullaryFnOnce;

use crate::prime::LANES;

/// Bits of a digit: what one instruction multiplies.
const BITS: u32 = 52;

const MASK: u64 = (1 << BITS) - 1;

pulp::simd_type! {
    /// That the processor has the instructions.
    pub(crate) struct Ifma {
        avx512f: "avx512f",
        avx512ifma: "avx512ifma",
    }
}

/// Digits of one factor that are multiplied at a time, so that a sum is read and written once for as many products.
const ROWS: usize = 4;

/// Eight numbers: their digits, lowest first, and as many zeros. So that the compiler knows it, `TWICE` is twice the
/// number of digits.
type Eight<const TWICE: usize> = [__m512i; TWICE];

/// The test for candidates of `LIMBS` words, a quarter more `DIGITS`. Their two highest bits are set: what the test begins
/// with is then less than a quarter of `R`, and comes down to the size of the candidate with the first few squares.
struct Test<'a, const LIMBS: usize, const DIGITS: usize, const TWICE: usize> {
    simd: Ifma,
    candidates: &'a [Uint<LIMBS>; LANES],
}

/// Which candidates of 1024 bits may be prime: all, where the processor lacks the instructions.
pub(crate) fn may_be_prime_1024(candidates: &[Uint<16>; LANES]) -> [bool; LANES] {
    Ifma::try_new().map_or([true; LANES], |simd| {
        simd.vectorize(Test::<16, 20, 40> { simd, candidates })
    })
}

/// The same for 2048 bits.
pub(crate) fn may_be_prime_2048(candidates: &[Uint<32>; LANES]) -> [bool; LANES] {
    Ifma::try_new().map_or([true; LANES], |simd| {
        simd.vectorize(Test::<32, 40, 80> { simd, candidates })
    })
}

impl<const LIMBS: usize, const DIGITS: usize, const TWICE: usize> NullaryFnOnce for Test<'_, LIMBS, DIGITS, TWICE> {
    type Output = [bool; LANES];

    #[inline(always)]
    fn call(self) -> Self::Output {
        let (simd, f) = (self.simd, self.simd.avx512f);
        let words = self.candidates.map(Uint::to_words);
        let modulus = Modulus {
            digits: eight::<LIMBS, DIGITS, TWICE>(simd, &words, 0),
            inverse: vector(simd, words.map(|words| inverse(words[0]) & MASK)),
        };
        // Montgomery's form of 1 is R modulo the candidate: 2^(64 * LIMBS) - candidate, shifted by the bits to spare.
        let one = self.candidates.map(|candidate| candidate.wrapping_neg().to_words());
        let mut power = eight::<LIMBS, DIGITS, TWICE>(simd, &one, LIMBS as u32);
        let mut wide = [f._mm512_setzero_si512(); TWICE];
        // To the power of candidate - 1, whose last bit is 0.
        for bit in (0..64 * LIMBS).rev() {
            let doubled = words
                .iter()
                .rev()
                .fold(0, |mask, words| mask << 1 | (words[bit / 64] >> (bit % 64) & 1) as u8);
            square::<DIGITS, TWICE>(simd, &power, &mut wide);
            modulus.reduce::<DIGITS>(simd, &mut wide, if bit > 0 { doubled } else { 0 }, &mut power);
        }
        // Out of that form, which also makes it less than the candidate.
        wide = power;
        modulus.reduce::<DIGITS>(simd, &mut wide, 0, &mut power);
        let rest = power[1..]
            .iter()
            .fold(f._mm512_setzero_si512(), |rest, digit| f._mm512_or_si512(rest, *digit));
        let passed = f._mm512_cmpeq_epi64_mask(power[0], f._mm512_set1_epi64(1))
            & f._mm512_cmpeq_epi64_mask(rest, f._mm512_setzero_si512());
        std::array::from_fn(|lane| passed >> lane & 1 == 1)
    }
}

/// Adds the products of four digits of one factor with those of the other that belong to one place of the result: at the
/// end of `other` stands the digit whose low half does with the first of the four.
#[inline(always)]
fn add_products(simd: Ifma, sum: &mut __m512i, four: &[__m512i; ROWS], other: &[__m512i]) {
    let mut low = *sum;
    let mut high = simd.avx512f._mm512_setzero_si512();
    for (row, digit) in four.iter().enumerate() {
        low = simd.avx512ifma._mm512_madd52lo_epu64(low, *digit, other[ROWS - row]);
        high = simd
            .avx512ifma
            ._mm512_madd52hi_epu64(high, *digit, other[ROWS - row - 1]);
    }
    *sum = simd.avx512f._mm512_add_epi64(low, high);
}

/// The squares, digits not carried yet.
#[inline(always)]
fn square<const DIGITS: usize, const TWICE: usize>(simd: Ifma, number: &Eight<TWICE>, wide: &mut Eight<TWICE>) {
    let (f, ifma) = (simd.avx512f, simd.avx512ifma);
    wide.fill(f._mm512_setzero_si512());
    // Each digit with all higher ones: those of the four among themselves, then the four with the rest.
    for low in (0..DIGITS).step_by(ROWS) {
        let four = [number[low], number[low + 1], number[low + 2], number[low + 3]];
        for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let place = 2 * low + one + other;
            wide[place] = ifma._mm512_madd52lo_epu64(wide[place], four[one], four[other]);
            wide[place + 1] = ifma._mm512_madd52hi_epu64(wide[place + 1], four[one], four[other]);
        }
        let (near, far) = wide[2 * low + ROWS..low + ROWS + DIGITS].split_at_mut(ROWS);
        let others = &number[low + ROWS..];
        for (distance, place) in near.iter_mut().enumerate() {
            for row in 0..distance {
                *place = ifma._mm512_madd52lo_epu64(*place, four[row], others[distance - row]);
                *place = ifma._mm512_madd52hi_epu64(*place, four[row], others[distance - row - 1]);
            }
            *place = ifma._mm512_madd52lo_epu64(*place, four[distance], others[0]);
        }
        for (place, other) in far.iter_mut().zip(others.windows(ROWS + 1)) {
            add_products(simd, place, &four, other);
        }
    }
    // All that twice, and each digit with itself.
    for (pair, digit) in wide.chunks_exact_mut(2).zip(number) {
        pair[0] = ifma._mm512_madd52lo_epu64(f._mm512_add_epi64(pair[0], pair[0]), *digit, *digit);
        pair[1] = ifma._mm512_madd52hi_epu64(f._mm512_add_epi64(pair[1], pair[1]), *digit, *digit);
    }
}

/// Eight candidates.
struct Modulus<const TWICE: usize> {
    digits: Eight<TWICE>,
    /// `-1 / candidate` modulo the base of the digits.
    inverse: __m512i,
}

impl<const TWICE: usize> Modulus<TWICE> {
    /// What to multiply the candidates with, so that adding it makes the next four digits 0. Carries what they become.
    #[inline(always)]
    fn factors(&self, simd: Ifma, wide: &mut Eight<TWICE>, low: usize) -> [__m512i; ROWS] {
        let (f, ifma, digits) = (simd.avx512f, simd.avx512ifma, &self.digits);
        let zero = f._mm512_setzero_si512();
        let mut four = [zero; ROWS];
        for row in 0..ROWS {
            let (mut sum, mut high) = (wide[low + row], zero);
            for before in 0..row {
                sum = ifma._mm512_madd52lo_epu64(sum, four[before], digits[row - before]);
                high = ifma._mm512_madd52hi_epu64(high, four[before], digits[row - before - 1]);
            }
            sum = f._mm512_add_epi64(sum, high);
            four[row] = ifma._mm512_madd52lo_epu64(zero, sum, self.inverse);
            sum = ifma._mm512_madd52lo_epu64(sum, four[row], digits[0]);
            wide[low + row + 1] = f._mm512_add_epi64(wide[low + row + 1], f._mm512_srli_epi64::<BITS>(sum));
        }
        four
    }

    /// Divides by `R` modulo the candidates, carries, and doubles what stands in lanes whose bit is set.
    #[inline(always)]
    fn reduce<const DIGITS: usize>(&self, simd: Ifma, wide: &mut Eight<TWICE>, doubled: u8, result: &mut Eight<TWICE>) {
        let f = simd.avx512f;
        for low in (0..DIGITS).step_by(ROWS) {
            let four = self.factors(simd, wide, low);
            let places = &mut wide[low + ROWS..low + ROWS + DIGITS];
            for (place, other) in places.iter_mut().zip(self.digits.windows(ROWS + 1)) {
                add_products(simd, place, &four, other);
            }
        }
        let mut carry = f._mm512_setzero_si512();
        for (digit, wide) in result.iter_mut().zip(&wide[DIGITS..]) {
            let sum = f._mm512_add_epi64(f._mm512_mask_add_epi64(*wide, doubled, *wide, *wide), carry);
            carry = f._mm512_srli_epi64::<BITS>(sum);
            *digit = f._mm512_and_si512(sum, f._mm512_set1_epi64(MASK as i64));
        }
    }
}

/// `-1 / odd` modulo 2^64, by Newton's iteration: each step doubles the number of right bits, three to begin with.
fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

/// Numbers side by side, shifted to the left.
#[inline(always)]
fn eight<const LIMBS: usize, const DIGITS: usize, const TWICE: usize>(
    simd: Ifma,
    numbers: &[[u64; LIMBS]; LANES],
    shift: u32,
) -> Eight<TWICE> {
    let mut eight = [simd.avx512f._mm512_setzero_si512(); TWICE];
    for (place, digits) in eight[..DIGITS].iter_mut().enumerate() {
        *digits = vector(
            simd,
            numbers.map(|number| digit(&number, place as i64 * i64::from(BITS) - i64::from(shift))),
        );
    }
    eight
}

/// The digit of a number that begins with that bit; beyond either end there are zeros.
fn digit(words: &[u64], bit: i64) -> u64 {
    let word = |index: i64| {
        usize::try_from(index)
            .ok()
            .and_then(|index| words.get(index))
            .copied()
            .unwrap_or(0)
    };
    let index = bit.div_euclid(64);
    let pair = u128::from(word(index + 1)) << 64 | u128::from(word(index));
    (pair >> bit.rem_euclid(64)) as u64 & MASK
}

#[inline(always)]
fn vector(simd: Ifma, lanes: [u64; LANES]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = lanes.map(|lane| lane as i64);
    simd.avx512f._mm512_setr_epi64(a, b, c, d, e, f, g, h)
}

#[cfg(test)]
mod tests {
    use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
    use crypto_bigint::{Odd, RandomBits, RandomMod, UnsignedWithMontyForm};
    use getrandom::SysRng;
    use rand_core::{Rng as _, UnwrapErr};

    use super::*;
    use crate::prime::{Filter, Search, Wanted, may_all_be_prime};

    /// The same with the library's arithmetic.
    fn expected<const LIMBS: usize>(candidate: &Uint<LIMBS>) -> bool {
        let parameters = FixedMontyParams::new_vartime(Odd::new(*candidate).unwrap());
        let two = FixedMontyForm::new(&Uint::from(2u32), &parameters);
        two.pow(&candidate.wrapping_sub(&Uint::ONE)).retrieve() == Uint::ONE
    }

    /// Asks for numbers of all kinds in all lanes.
    fn agrees<const LIMBS: usize>(filter: Filter<LIMBS>)
    where
        Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
    {
        if !Ifma::is_available() {
            assert_eq!(filter(&[Uint::ONE; LANES]), [true; LANES]);
            eprintln!("not tested: the processor has no AVX-512 IFMA");
            return;
        }
        let bit = |bit: u32| Uint::<LIMBS>::ONE.shl(bit);
        let bits = Uint::<LIMBS>::BITS;
        let mut rng = UnwrapErr(SysRng);
        let unfiltered = Search::<LIMBS> {
            filter: may_all_be_prime,
            rounds: 1,
        };
        let prime = unfiltered.next(&mut rng, &Wanted::new(1)).unwrap();
        let mut random = [0; LIMBS];
        random.fill_with(|| rng.next_u64());
        let candidates = [
            prime,
            // the greatest and the least that have both of the highest bits
            Uint::MAX,
            bit(bits - 1).wrapping_add(&bit(bits - 2)).wrapping_add(&Uint::ONE),
            prime.wrapping_sub(&Uint::from(2u32)),
            // long runs of zeros and ones within
            bit(bits - 1)
                .wrapping_add(&bit(bits - 2))
                .wrapping_add(&bit(bits / 2))
                .wrapping_sub(&Uint::ONE),
            Uint::MAX.wrapping_sub(&bit(bits / 2)),
            Uint::from_words(random)
                .bitor(&bit(bits - 1))
                .bitor(&bit(bits - 2))
                .bitor(&Uint::ONE),
            prime,
        ];
        for turn in 0..LANES {
            let mut candidates = candidates;
            candidates.rotate_left(turn);
            let expected = candidates.each_ref().map(expected);
            assert_eq!(filter(&candidates), expected, "turned by {turn}: {candidates:x?}");
            assert!(expected[(LANES - turn) % LANES], "the prime");
        }
    }

    #[test]
    fn agrees_with_the_library_on_1024_bits() {
        agrees(may_be_prime_1024);
    }

    #[test]
    fn agrees_with_the_library_on_2048_bits() {
        agrees(may_be_prime_2048);
    }
}
