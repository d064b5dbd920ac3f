//! Random primes: candidates in a row from a random start, sieved, and tested as a processor does best ([`Tests`]). What
//! passes has to pass crypto-primes' test as well.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

use crypto_bigint::{NonZero, RandomBits, RandomMod, Uint, UnsignedWithMontyForm, Word};
use crypto_primes::Flavor;
use crypto_primes::fips::{self, FipsOptions};
use crypto_primes::hazmat::{MillerRabin, SetBits, random_odd_integer};
use rand_core::CryptoRng;

use crate::EXPONENT;
use crate::sieve::sieve;

/// Candidates, or bases, that are tested together.
pub(crate) const LANES: usize = 8;

/// Tests of odd numbers that have both of their highest bits set.
pub(crate) trait Tests<const LIMBS: usize> {
    /// Which of some candidates may be prime, to base 2.
    fn candidates(&self, candidates: &[Uint<LIMBS>; LANES]) -> [bool; LANES];

    /// Whether a candidate may be prime: Miller and Rabin's test does not tell otherwise with so many of these bases that,
    /// with one round more, a composite passes with a chance of less than 2^-112 (FIPS 186-5, appendix C).
    fn rounds(&self, candidate: &Uint<LIMBS>, bases: &[Uint<LIMBS>; LANES]) -> bool;
}

/// The tests of the library, with so many rounds in all.
pub(crate) struct Portable<const ROUNDS: usize>;

impl<const LIMBS: usize, const ROUNDS: usize> Tests<LIMBS> for Portable<ROUNDS>
where
    Uint<LIMBS>: UnsignedWithMontyForm + RandomMod,
{
    fn candidates(&self, candidates: &[Uint<LIMBS>; LANES]) -> [bool; LANES] {
        let two = [Uint::from(2u32)];
        candidates.each_ref().map(|candidate| may_be_prime(candidate, &two))
    }

    fn rounds(&self, candidate: &Uint<LIMBS>, bases: &[Uint<LIMBS>; LANES]) -> bool {
        may_be_prime(candidate, &bases[..ROUNDS - 1])
    }
}

/// Whether no base tells a number to be composite.
fn may_be_prime<const LIMBS: usize>(number: &Uint<LIMBS>, bases: &[Uint<LIMBS>]) -> bool
where
    Uint<LIMBS>: UnsignedWithMontyForm + RandomMod,
{
    let test = number.to_odd().into_option().map(MillerRabin::new);
    test.is_some_and(|test| bases.iter().all(|base| test.test(base).is_probably_prime()))
}

/// How primes are looked for.
pub(crate) struct Search<T> {
    /// The greatest prime that candidates are divided by.
    pub(crate) sieve: u32,
    pub(crate) tests: T,
}

impl<T> Search<T> {
    /// A random prime that can belong to a key: the two highest bits are set, so that the product of two has all its
    /// bits, and what is one less has no factor in common with the public exponent. `None`: others found enough.
    pub(crate) fn next<const LIMBS: usize>(&self, rng: &mut impl CryptoRng, wanted: &Wanted) -> Option<Uint<LIMBS>>
    where
        T: Tests<LIMBS>,
        Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
    {
        let bits = NonZeroU32::new(Uint::<LIMBS>::BITS)?;
        loop {
            let start = random_odd_integer::<Uint<LIMBS>, _>(rng, bits, SetBits::TwoMsb).ok()?;
            for candidates in Chunks(sieve(start.get(), self.sieve)) {
                if wanted.none() {
                    return None;
                }
                for (candidate, may_be_prime) in candidates.into_iter().zip(self.tests.candidates(&candidates)) {
                    if may_be_prime && fits_exponent(&candidate) {
                        // As good as found: nobody has to look on until it is sure.
                        wanted.one_less()?;
                        if self.confirms(rng, &candidate) {
                            return Some(candidate);
                        }
                        wanted.one_more();
                    }
                }
            }
        }
    }

    /// Whether a number is prime, by rounds with random bases, the last of them the library's own: whatever slip there
    /// may be in other tests, no composite passes but with a chance of less than 2^-40.
    fn confirms<const LIMBS: usize>(&self, rng: &mut impl CryptoRng, candidate: &Uint<LIMBS>) -> bool
    where
        T: Tests<LIMBS>,
        Uint<LIMBS>: UnsignedWithMontyForm + RandomMod,
    {
        let Some(modulus) = NonZero::new(*candidate).into_option() else {
            return false;
        };
        let bases = [(); LANES].map(|()| Uint::random_mod_vartime(rng, &modulus));
        let last = FipsOptions::with_mr_iterations(1);
        self.tests.rounds(candidate, &bases) && fips::is_prime(rng, Flavor::Any, candidate, last)
    }
}

/// How many primes are still to be found, by all who look.
pub(crate) struct Wanted(AtomicUsize);

impl Wanted {
    pub(crate) fn new(count: usize) -> Self {
        Self(AtomicUsize::new(count))
    }

    fn none(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// `None`: no more were wanted.
    fn one_less(&self) -> Option<()> {
        let less = |count: usize| count.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()
            .map(drop)
    }

    fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The items of an iterator, some at a time; a rest that is fewer is left out.
struct Chunks<I>(I);

impl<I: Iterator> Iterator for Chunks<I> {
    type Item = [I::Item; LANES];

    fn next(&mut self) -> Option<Self::Item> {
        let chunk: Vec<_> = self.0.by_ref().take(LANES).collect();
        chunk.try_into().ok()
    }
}

/// Whether the public exponent, which is prime, does not divide what is one less.
fn fits_exponent<const LIMBS: usize>(prime: &Uint<LIMBS>) -> bool {
    let words = prime.as_words().iter().rev();
    let rest = words.fold(0, |rest, word| {
        (rest << Word::BITS | u128::from(*word)) % u128::from(EXPONENT)
    });
    rest != 1
}

#[cfg(test)]
mod tests {
    use crypto_bigint::U1024;
    use getrandom::SysRng;
    use rand_core::UnwrapErr;

    use super::*;

    const SEARCH: Search<Portable<5>> = Search {
        sieve: 1 << 16,
        tests: Portable,
    };

    #[test]
    fn what_is_found_is_prime() {
        let wanted = Wanted::new(1);
        let prime: U1024 = SEARCH.next(&mut UnwrapErr(SysRng), &wanted).unwrap();
        assert!(crypto_primes::is_prime(Flavor::Any, &prime));
        assert_eq!(prime.shr(1022), Uint::from(3u32));
        assert!(fits_exponent(&prime));
        assert!(wanted.none());
    }

    #[test]
    fn composites_fail_though_other_tests_let_them_pass() {
        struct All;

        impl Tests<{ U1024::LIMBS }> for All {
            fn candidates(&self, _: &[U1024; LANES]) -> [bool; LANES] {
                [true; LANES]
            }

            fn rounds(&self, _: &U1024, _: &[U1024; LANES]) -> bool {
                true
            }
        }

        let (rng, wanted) = (&mut UnwrapErr(SysRng), Wanted::new(1));
        let prime = Search { sieve: 3, tests: All }.next(rng, &wanted).unwrap();
        assert!(crypto_primes::is_prime(Flavor::Any, &prime));
        assert!(wanted.none());
    }

    #[test]
    fn a_search_ends_once_others_found_enough() {
        /// Finds nothing, while others find one prime after the other.
        struct Unlucky<'a>(&'a Wanted);

        impl Tests<{ U1024::LIMBS }> for Unlucky<'_> {
            fn candidates(&self, _: &[U1024; LANES]) -> [bool; LANES] {
                self.0.one_less().unwrap();
                [false; LANES]
            }

            fn rounds(&self, _: &U1024, _: &[U1024; LANES]) -> bool {
                unreachable!("there are no candidates")
            }
        }

        let (rng, wanted) = (&mut UnwrapErr(SysRng), Wanted::new(3));
        let search = Search {
            sieve: 1 << 16,
            tests: Unlucky(&wanted),
        };
        assert_eq!(search.next(rng, &wanted), None);
        assert_eq!(SEARCH.next::<{ U1024::LIMBS }>(rng, &wanted), None);
        assert_eq!(wanted.one_less(), None);
    }

    #[test]
    fn primes_that_do_not_fit_the_exponent_are_told() {
        let exponent = U1024::from(EXPONENT);
        assert!(!fits_exponent(&exponent.shl(500).wrapping_add(&Uint::ONE)));
        assert!(fits_exponent(&exponent.shl(500).wrapping_add(&Uint::from(3u32))));
    }

    #[test]
    fn what_is_left_of_eight_is_left_out() {
        let chunks: Vec<_> = Chunks(0..19).collect();
        assert_eq!(chunks, [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]);
    }
}
