//! Random primes: candidates in a row from a random start, sieved and tested by crypto-primes. A [`Filter`] may throw out
//! composites before they are tested.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

use crypto_bigint::{RandomBits, RandomMod, Uint, UnsignedWithMontyForm, Word};
use crypto_primes::Flavor;
use crypto_primes::fips::{self, FipsOptions};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieve, random_odd_integer};
use rand_core::CryptoRng;

use crate::EXPONENT;

/// Candidates that a filter looks at together.
pub(crate) const LANES: usize = 8;

/// Tells which of some candidates may be prime. Those are tested, so that no slip in a filter lets a composite pass.
pub(crate) type Filter<const LIMBS: usize> = fn(&[Uint<LIMBS>; LANES]) -> [bool; LANES];

/// How primes of `LIMBS` words are looked for.
pub(crate) struct Search<const LIMBS: usize> {
    pub(crate) filter: Filter<LIMBS>,
    /// Rounds of Miller and Rabin's test, each with a random base: so many that a composite passes with a chance of less
    /// than 2^-112 (FIPS 186-5, appendix C).
    pub(crate) rounds: usize,
}

/// The filter that throws out none.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) fn may_all_be_prime<const LIMBS: usize>(_: &[Uint<LIMBS>; LANES]) -> [bool; LANES] {
    [true; LANES]
}

impl<const LIMBS: usize> Search<LIMBS>
where
    Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
{
    /// A random prime that can belong to a key: the two highest bits are set, so that the product of two has all its
    /// bits, and what is one less has no factor in common with the public exponent. `None`: others found enough.
    pub(crate) fn next(&self, rng: &mut impl CryptoRng, wanted: &Wanted) -> Option<Uint<LIMBS>> {
        let bits = NonZeroU32::new(Uint::<LIMBS>::BITS)?;
        let [first, rest] = [1, self.rounds - 1].map(FipsOptions::with_mr_iterations);
        loop {
            let start = random_odd_integer::<Uint<LIMBS>, _>(rng, bits, SetBits::TwoMsb)
                .ok()?
                .get();
            for candidates in Chunks(SmallFactorsSieve::new(start, bits, false).ok()?) {
                if wanted.none() {
                    return None;
                }
                for (candidate, may_be_prime) in candidates.into_iter().zip((self.filter)(&candidates)) {
                    if !may_be_prime
                        || !fits_exponent(&candidate)
                        || !fips::is_prime(rng, Flavor::Any, &candidate, first)
                    {
                        continue;
                    }
                    // As good as found: nobody has to look on while the other rounds are done.
                    wanted.one_less()?;
                    if fips::is_prime(rng, Flavor::Any, &candidate, rest) {
                        return Some(candidate);
                    }
                    wanted.one_more();
                }
            }
        }
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

    const UNFILTERED: Search<{ U1024::LIMBS }> = Search {
        filter: may_all_be_prime,
        rounds: 5,
    };

    #[test]
    fn what_no_filter_has_seen_is_prime_too() {
        let wanted = Wanted::new(1);
        let prime = UNFILTERED.next(&mut UnwrapErr(SysRng), &wanted).unwrap();
        assert!(crypto_primes::is_prime(Flavor::Any, &prime));
        assert_eq!(prime.shr(1022), Uint::from(3u32));
        assert!(fits_exponent(&prime));
        assert!(wanted.none());
    }

    #[test]
    fn a_search_ends_once_others_found_enough() {
        static WANTED: Wanted = Wanted(AtomicUsize::new(3));
        // Finds nothing, while others find one prime after the other.
        let search = Search::<{ U1024::LIMBS }> {
            filter: |_| {
                WANTED.one_less().unwrap();
                [false; LANES]
            },
            rounds: 5,
        };
        assert_eq!(search.next(&mut UnwrapErr(SysRng), &WANTED), None);
        assert_eq!(UNFILTERED.next(&mut UnwrapErr(SysRng), &WANTED), None);
        assert_eq!(WANTED.one_less(), None);
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
