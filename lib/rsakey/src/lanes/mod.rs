//! Tests of eight numbers at a time, where the processor has AVX-512 IFMA.
//!
//! They only throw out: what passes is tested by the caller as well. So a slip in here could make a search long, but
//! never a key weak.

mod fermat;
mod miller_rabin;
mod vector;

use crypto_bigint::Uint;

use self::fermat::Fermat;
use self::miller_rabin::MillerRabin;
use self::vector::Ifma;
use crate::prime::{LANES, Tests};

/// The tests for numbers of four times so many digits; `TWICE` is twice as many.
pub(crate) struct Lanes<const FOURS: usize, const TWICE: usize>(Ifma);

impl<const FOURS: usize, const TWICE: usize> Lanes<FOURS, TWICE> {
    /// `None`: not on this processor.
    pub(crate) fn available() -> Option<Self> {
        Ifma::try_new().map(Self)
    }
}

impl<const LIMBS: usize, const FOURS: usize, const TWICE: usize> Tests<LIMBS> for Lanes<FOURS, TWICE> {
    fn candidates(&self, candidates: &[Uint<LIMBS>; LANES]) -> [bool; LANES] {
        let simd = self.0;
        simd.vectorize(Fermat::<LIMBS, FOURS, TWICE> { simd, candidates })
    }

    fn rounds(&self, candidate: &Uint<LIMBS>, bases: &[Uint<LIMBS>; LANES]) -> bool {
        let simd = self.0;
        simd.vectorize(MillerRabin::<LIMBS, FOURS, TWICE> { simd, candidate, bases })
    }
}

#[cfg(test)]
mod tests {
    use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
    use crypto_bigint::{Odd, RandomBits, RandomMod, UnsignedWithMontyForm};
    use getrandom::SysRng;
    use rand_core::{CryptoRng, Rng as _, UnwrapErr};

    use super::*;
    use crate::prime::{Portable, Search, Wanted};

    /// Where the processor has the instructions, the lanes and a source of random bytes.
    fn begin<const FOURS: usize, const TWICE: usize>() -> Option<(Lanes<FOURS, TWICE>, UnwrapErr<SysRng>)> {
        let lanes = Lanes::available();
        if lanes.is_none() {
            eprintln!("not tested: the processor has no AVX-512 IFMA");
        }
        lanes.map(|lanes| (lanes, UnwrapErr(SysRng)))
    }

    fn prime<const LIMBS: usize>(rng: &mut impl CryptoRng) -> Uint<LIMBS>
    where
        Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
    {
        let search = Search {
            sieve: 1 << 16,
            tests: Portable::<2>,
        };
        search.next(rng, &Wanted::new(1)).unwrap()
    }

    fn bit<const LIMBS: usize>(bit: u32) -> Uint<LIMBS> {
        Uint::ONE.shl(bit)
    }

    fn parameters<const LIMBS: usize>(modulus: &Uint<LIMBS>) -> FixedMontyParams<LIMBS> {
        FixedMontyParams::new_vartime(Odd::new(*modulus).unwrap())
    }

    /// Fermat's test with the library's arithmetic.
    fn passes<const LIMBS: usize>(candidate: &Uint<LIMBS>) -> bool {
        let two = FixedMontyForm::new(&Uint::from(2u32), &parameters(candidate));
        two.pow(&candidate.wrapping_sub(&Uint::ONE)).retrieve() == Uint::ONE
    }

    /// Asks for numbers of all kinds in all lanes.
    fn candidates_agree<const LIMBS: usize, const FOURS: usize, const TWICE: usize>()
    where
        Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
    {
        let Some((lanes, mut rng)) = begin::<FOURS, TWICE>() else {
            return;
        };
        let bits = Uint::<LIMBS>::BITS;
        let highest = bit(bits - 1).wrapping_add(&bit(bits - 2));
        let prime = prime(&mut rng);
        let mut random = [0; LIMBS];
        random.fill_with(|| rng.next_u64());
        let candidates = [
            prime,
            // the greatest and the least that have both of the highest bits
            Uint::MAX,
            highest.wrapping_add(&Uint::ONE),
            prime.wrapping_sub(&Uint::from(2u32)),
            // long runs of zeros and ones within
            highest.wrapping_add(&bit(bits / 2)).wrapping_sub(&Uint::ONE),
            Uint::MAX.wrapping_sub(&bit(bits / 2)),
            Uint::from_words(random).bitor(&highest).bitor(&Uint::ONE),
            prime,
        ];
        for turn in 0..LANES {
            let mut candidates = candidates;
            candidates.rotate_left(turn);
            let expected = candidates.each_ref().map(passes);
            let found = lanes.candidates(&candidates);
            assert_eq!(found, expected, "turned by {turn}: {candidates:x?}");
            assert!(expected[(LANES - turn) % LANES], "the prime");
        }
    }

    #[test]
    fn candidates_are_told_as_by_the_library() {
        candidates_agree::<16, 5, 10>();
        candidates_agree::<32, 10, 20>();
    }

    /// Primes, whatever the base; composites with bases that do not tell and one that does, in each lane.
    fn rounds_tell<const LIMBS: usize, const FOURS: usize, const TWICE: usize>()
    where
        Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
    {
        let Some((lanes, mut rng)) = begin::<FOURS, TWICE>() else {
            return;
        };
        let mut random = |number: &Uint<LIMBS>| Uint::random_mod_vartime(&mut rng, &number.to_nz().unwrap());
        // One less has a factor of 8, so that bases may take three turns until they are -1.
        let prime = std::iter::repeat_with(|| prime::<LIMBS>(&mut UnwrapErr(SysRng)));
        let prime = { prime }.find(|prime| prime.to_words()[0] % 8 == 1).unwrap();
        for _ in 0..4 {
            assert!(
                lanes.rounds(&prime, &[(); LANES].map(|()| random(&prime))),
                "{prime:x?}"
            );
        }
        // So has this, which 3 divides.
        let composite = Uint::<LIMBS>::MAX.wrapping_sub(&Uint::from(6u32));
        // Montgomery's forms of 1 and -1: a power of 2 with one bit more than the digits have.
        let two = FixedMontyForm::new(&Uint::from(2u32), &parameters(&composite));
        let one = two.pow(&Uint::<1>::from(4 * 52 * FOURS as u32));
        let silent = [one, -one].map(|form| form.retrieve());
        let silent: [_; LANES] = std::array::from_fn(|lane| silent[lane % 2]);
        assert!(lanes.rounds(&composite, &silent), "{composite:x?}");
        for lane in 0..LANES {
            let mut bases = silent;
            bases[lane] = random(&composite);
            assert!(!lanes.rounds(&composite, &bases), "{lane}: {composite:x?}");
        }
    }

    #[test]
    fn rounds_tell_what_is_composite() {
        rounds_tell::<16, 5, 10>();
        rounds_tell::<32, 10, 20>();
    }
}
