//! Arithmetic on eight numbers at once, where the processor has AVX-512 IFMA.
//!
//! They lie side by side, one in each lane of a vector, in digits of 52 bits; every step is taken for all of them. Numbers
//! are multiplied as Montgomery does, with `R = 2^(208 * FOURS)`, and kept below `R` instead of below the modulus: there
//! are `LIMBS` bits to spare, so that doubling one needs no reduction.

use std::arch::x86_64::__m512i;

use crypto_bigint::Uint;

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

/// Four digits of each number: so many are multiplied together, so that a sum is read and written once for as many
/// products.
type Four = [__m512i; 4];

/// Eight numbers: their digits, lowest first, and as many zeros. So that the compiler knows it, `TWICE` is twice the
/// number of fours.
pub(crate) type Eight<const TWICE: usize> = [Four; TWICE];

/// What eight numbers are calculated modulo: odd ones of `LIMBS` words, so many fours, whose two highest bits are set.
/// Montgomery's form of 1 is then less than a quarter of `R`, and what is squared comes down to the size of the modulus
/// with the first few squares.
pub(crate) struct Moduli<const LIMBS: usize, const FOURS: usize, const TWICE: usize> {
    simd: Ifma,
    digits: Eight<TWICE>,
    /// `-1 / modulus` modulo the base of the digits.
    inverse: __m512i,
    /// Montgomery's form of 1.
    pub(crate) one: Eight<TWICE>,
}

impl<const LIMBS: usize, const FOURS: usize, const TWICE: usize> Moduli<LIMBS, FOURS, TWICE> {
    #[inline(always)]
    pub(crate) fn new(simd: Ifma, moduli: &[Uint<LIMBS>; LANES]) -> Self {
        // R modulo a number that is nearly as great: 2^(64 * LIMBS) - modulus, shifted by the bits to spare.
        let one = moduli.each_ref().map(Uint::wrapping_neg);
        Self {
            simd,
            digits: eight::<LIMBS, FOURS, TWICE>(simd, moduli, 0),
            inverse: vector(simd, moduli.map(|modulus| inverse(modulus.to_words()[0]) & MASK)),
            one: eight::<LIMBS, FOURS, TWICE>(simd, &one, LIMBS as u32),
        }
    }

    /// The numbers as they are, not in Montgomery's form.
    #[inline(always)]
    pub(crate) fn plain(&self, numbers: &[Uint<LIMBS>; LANES]) -> Eight<TWICE> {
        eight::<LIMBS, FOURS, TWICE>(self.simd, numbers, 0)
    }

    /// Which of two sets of numbers are the same: a bit for each lane, the first number's the lowest. The one is in
    /// Montgomery's form, the other is plain and less than the modulus.
    #[inline(always)]
    pub(crate) fn equal(&self, number: &Eight<TWICE>, plain: &Eight<TWICE>) -> u8 {
        // Out of that form, which also makes it less than the modulus, or the modulus itself instead of 0.
        let (mut wide, mut number) = (*number, *number);
        self.reduce(&mut wide, 0, &mut number);
        let f = self.simd.avx512f;
        let pairs = number.as_flattened().iter().zip(plain.as_flattened());
        pairs.fold(u8::MAX, |equal, (one, other)| {
            equal & f._mm512_cmpeq_epi64_mask(*one, *other)
        })
    }

    /// Squares, and doubles in lanes whose bit is set.
    #[inline(always)]
    pub(crate) fn square(&self, number: &mut Eight<TWICE>, doubled: u8) {
        let (f, ifma) = (self.simd.avx512f, self.simd.avx512ifma);
        let mut wide = [[f._mm512_setzero_si512(); 4]; TWICE];
        // Each digit with all higher ones: those of four among themselves, then the four with the rest.
        for low in 0..FOURS {
            let places = wide[2 * low..].as_flattened_mut();
            for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let (digit, other, place) = (number[low][one], number[low][other], one + other);
                places[place] = ifma._mm512_madd52lo_epu64(places[place], digit, other);
                places[place + 1] = ifma._mm512_madd52hi_epu64(places[place + 1], digit, other);
            }
            let places = &mut wide[2 * low + 1..=low + FOURS];
            add_products(self.simd, places, &number[low], &number[low + 1..]);
        }
        // All that twice, and each digit with itself.
        let pairs = wide.as_flattened_mut().chunks_exact_mut(2);
        for (pair, digit) in pairs.zip(number.as_flattened()) {
            pair[0] = ifma._mm512_madd52lo_epu64(f._mm512_add_epi64(pair[0], pair[0]), *digit, *digit);
            pair[1] = ifma._mm512_madd52hi_epu64(f._mm512_add_epi64(pair[1], pair[1]), *digit, *digit);
        }
        self.reduce(&mut wide, doubled, number);
    }

    /// Multiplies.
    #[inline(always)]
    pub(crate) fn multiply(&self, number: &mut Eight<TWICE>, other: &Eight<TWICE>) {
        let mut wide = [[self.simd.avx512f._mm512_setzero_si512(); 4]; TWICE];
        for low in 0..FOURS {
            add_products(self.simd, &mut wide[low..=low + FOURS], &number[low], other);
        }
        self.reduce(&mut wide, 0, number);
    }

    /// Divides by `R`, carries, and doubles what stands in lanes whose bit is set.
    #[inline(always)]
    fn reduce(&self, wide: &mut Eight<TWICE>, doubled: u8, result: &mut Eight<TWICE>) {
        let (simd, f) = (self.simd, self.simd.avx512f);
        let mut four = self.factors(wide, 0);
        for low in 1..=FOURS {
            // The next factors need but the first of the products, and are found while the others are added.
            add_further_products(simd, &mut wide[low..=low], &four, &self.digits);
            let next = if low < FOURS { self.factors(wide, low) } else { four };
            add_further_products(simd, &mut wide[low + 1..low + FOURS], &four, &self.digits[1..]);
            four = next;
        }
        let mut carry = f._mm512_setzero_si512();
        let digits = result.as_flattened_mut().iter_mut();
        for (digit, place) in digits.zip(wide[FOURS..].as_flattened()) {
            let sum = f._mm512_add_epi64(f._mm512_mask_add_epi64(*place, doubled, *place, *place), carry);
            carry = f._mm512_srli_epi64::<BITS>(sum);
            *digit = f._mm512_and_si512(sum, f._mm512_set1_epi64(MASK as i64));
        }
    }

    /// What to multiply the moduli with, so that adding it makes four digits 0. Carries what they become.
    #[inline(always)]
    fn factors(&self, wide: &mut Eight<TWICE>, low: usize) -> Four {
        let (f, ifma, digits) = (self.simd.avx512f, self.simd.avx512ifma, &self.digits[0]);
        let zero = f._mm512_setzero_si512();
        let mut lows = wide[low];
        let [mut highs, mut factors] = [[zero; 4]; 2];
        let mut carry = zero;
        for row in 0..4 {
            let sum = f._mm512_add_epi64(f._mm512_add_epi64(lows[row], highs[row]), carry);
            factors[row] = ifma._mm512_madd52lo_epu64(zero, sum, self.inverse);
            carry = f._mm512_srli_epi64::<BITS>(ifma._mm512_madd52lo_epu64(sum, factors[row], digits[0]));
            for place in row + 1..4 {
                lows[place] = ifma._mm512_madd52lo_epu64(lows[place], factors[row], digits[place - row]);
                highs[place] = ifma._mm512_madd52hi_epu64(highs[place], factors[row], digits[place - row - 1]);
            }
        }
        wide[low + 1][0] = f._mm512_add_epi64(wide[low + 1][0], carry);
        factors
    }
}

/// Adds the products of four digits with those of another number, up to the last of the places.
#[inline(always)]
fn add_products(simd: Ifma, places: &mut [Four], four: &Four, other: &[Four]) {
    add_products_at(simd, &mut places[0], four, None, &other[0]);
    add_further_products(simd, &mut places[1..], four, other);
}

/// The same beyond the first four places: the first of these is the second.
#[inline(always)]
fn add_further_products(simd: Ifma, places: &mut [Four], four: &Four, other: &[Four]) {
    for (places, (before, digits)) in places.iter_mut().zip(other.iter().zip(&other[1..])) {
        add_products_at(simd, places, four, Some(before), digits);
    }
}

/// Adds the products of four digits with others that belong to four places of the result: with as many digits and those
/// `before` them.
#[inline(always)]
fn add_products_at(simd: Ifma, places: &mut Four, four: &Four, before: Option<&Four>, digits: &Four) {
    let ifma = simd.avx512ifma;
    let mut highs = [simd.avx512f._mm512_setzero_si512(); 4];
    for (row, factor) in four.iter().enumerate() {
        for place in 0..4_usize {
            let digit = |back: usize| match place.checked_sub(back) {
                Some(place) => Some(digits[place]),
                None => before.map(|before| before[4 + place - back]),
            };
            if let Some(digit) = digit(row) {
                places[place] = ifma._mm512_madd52lo_epu64(places[place], *factor, digit);
            }
            if let Some(digit) = digit(row + 1) {
                highs[place] = ifma._mm512_madd52hi_epu64(highs[place], *factor, digit);
            }
        }
    }
    for (place, high) in places.iter_mut().zip(highs) {
        *place = simd.avx512f._mm512_add_epi64(*place, high);
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
fn eight<const LIMBS: usize, const FOURS: usize, const TWICE: usize>(
    simd: Ifma,
    numbers: &[Uint<LIMBS>; LANES],
    shift: u32,
) -> Eight<TWICE> {
    let words = numbers.map(Uint::to_words);
    let mut eight = [[simd.avx512f._mm512_setzero_si512(); 4]; TWICE];
    for (place, digits) in eight[..FOURS].as_flattened_mut().iter_mut().enumerate() {
        let bit = place as i64 * i64::from(BITS) - i64::from(shift);
        *digits = vector(simd, words.each_ref().map(|words| digit(words, bit)));
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
