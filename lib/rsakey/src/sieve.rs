//! What is left of odd numbers in a row once those with a small prime factor are gone.

use std::sync::LazyLock;

use crypto_bigint::{CheckedAdd, Limb, NonZero, Reciprocal, Uint};

/// No prime beyond is asked for: to divide by more takes longer than to test what they throw out.
const GREATEST: usize = 1 << 17;

/// Primes whose product fits into a word, so that a long number is divided once for all of them.
struct Together {
    product: Reciprocal,
    primes: [u32; 3],
}

/// The odd primes up to [`GREATEST`], but for the last one or two.
static PRIMES: LazyLock<Vec<Together>> = LazyLock::new(|| {
    let mut composite = vec![false; GREATEST];
    let mut primes = Vec::new();
    for number in (3..GREATEST).step_by(2) {
        if !composite[number] {
            primes.push(number as u32);
            for multiple in (number * number..GREATEST).step_by(number) {
                composite[multiple] = true;
            }
        }
    }
    let together = |primes: &[u32; 3]| {
        let product = primes.iter().map(|prime| u64::from(*prime)).product::<u64>();
        let product = NonZero::new(Limb(product)).into_option()?;
        Some(Together {
            product: Reciprocal::new(product),
            primes: *primes,
        })
    };
    primes.as_chunks().0.iter().filter_map(together).collect()
});

/// Odd numbers from `start` on without those that a prime up to `greatest` divides. There are enough for a prime to be
/// among them but once in a hundred thousand times.
pub(crate) fn sieve<const LIMBS: usize>(start: Uint<LIMBS>, greatest: u32) -> impl Iterator<Item = Uint<LIMBS>> {
    // The mean distance of primes is the logarithm of their size: of 64 * LIMBS odd numbers, 2.9 are prime.
    let mut composite = vec![false; 4 * 64 * LIMBS];
    for Together { product, primes } in PRIMES.iter().take_while(|together| together.primes[2] <= greatest) {
        let rest = start.rem_limb_with_reciprocal(product).0;
        for prime in primes.map(u64::from) {
            // To the next multiple, and if that is even, to the one after.
            let distance = (prime - rest % prime) % prime;
            let mut step = ((distance + distance % 2 * prime) / 2) as usize;
            while let Some(multiple) = composite.get_mut(step) {
                *multiple = true;
                step += prime as usize;
            }
        }
    }
    let left = (0u32..).zip(composite).filter(|(_, composite)| !composite);
    left.map_while(move |(step, _)| start.checked_add(&Uint::from(2 * step)).into_option())
}

#[cfg(test)]
mod tests {
    use crypto_bigint::U1024;

    use super::*;

    /// Whether a prime up to `greatest` divides a number, the slow way.
    fn divides(number: &U1024, greatest: u32) -> bool {
        (3..=greatest)
            .step_by(2)
            .any(|odd| number.rem_limb(NonZero::new(Limb::from(odd)).unwrap()) == Limb::ZERO)
    }

    #[test]
    fn what_a_small_prime_divides_is_left_out_and_nothing_else() {
        // The second is a multiple of many small primes.
        let many = (3u32..100)
            .step_by(2)
            .fold(U1024::ONE, |product, odd| product.wrapping_mul(&U1024::from(odd)));
        for start in [U1024::MAX.shr(1), many] {
            let left: Vec<_> = sieve(start, 29).collect();
            let all = (0..4096u32).map(|step| start.wrapping_add(&Uint::from(2 * step)));
            let expected: Vec<_> = all.filter(|number| !divides(number, 29)).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn numbers_that_are_too_long_end_it() {
        let last: Vec<_> = sieve(U1024::MAX.wrapping_sub(&U1024::from(10u32)), 2).collect();
        assert_eq!(last.len(), 6);
        assert_eq!(last[5], U1024::MAX);
    }

    #[test]
    fn all_primes_are_known() {
        assert_eq!(PRIMES.first().unwrap().primes, [3, 5, 7]);
        // There are 12,251 up to 2^17, 2 among them.
        assert_eq!(PRIMES.len(), 12_250 / 3);
    }
}
