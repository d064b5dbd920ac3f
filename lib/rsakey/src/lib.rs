//! New RSA private keys.
//!
//! Nearly all the time goes into finding two primes: of the odd numbers of 2048 bits, one in 710 is prime. crypto-primes
//! decides what is; before it comes what throws out composites at less cost: a [`sieve`] and, on processors that can,
//! tests of eight numbers at a time ([`lanes`]). With it a key takes a fifteenth of the time, see
//! `docs/adr/0013-rsa-keys.md`.

#[cfg(target_arch = "x86_64")]
mod lanes;
mod prime;
mod sieve;

use std::sync::{Mutex, PoisonError};
use std::thread;

use crypto_bigint::{RandomBits, RandomMod, Uint, UnsignedWithMontyForm};
use getrandom::SysRng;
use num_bigint::BigUint;
use rand_core::UnwrapErr;

#[cfg(target_arch = "x86_64")]
use lanes::Lanes;
use prime::{Portable, Search, Tests, Wanted};

/// The public exponent, a prime.
const EXPONENT: u32 = 65537;

/// Rounds for a prime of 1024 bits, where they are taken one by one.
const ROUNDS_1024: usize = 5;

/// The same for 2048 bits.
const ROUNDS_2048: usize = 3;

/// How long a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 2048 bits.
    Bits2048,
    /// 4096 bits.
    Bits4096,
}

/// The numbers of a private key, big-endian, named as in RFC 8017, appendix A.1.2 (`RSAPrivateKey`).
pub struct PrivateKey {
    /// `prime1 * prime2`; all bits of the key's size are used.
    pub modulus: Vec<u8>,
    /// 65537
    pub public_exponent: Vec<u8>,
    /// The inverse of the public exponent.
    pub private_exponent: Vec<u8>,
    /// The greater prime.
    pub prime1: Vec<u8>,
    /// The lesser prime.
    pub prime2: Vec<u8>,
    /// The private exponent modulo `prime1 - 1`.
    pub exponent1: Vec<u8>,
    /// The private exponent modulo `prime2 - 1`.
    pub exponent2: Vec<u8>,
    /// The inverse of `prime2` modulo `prime1`.
    pub coefficient: Vec<u8>,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system has no random bytes.
    #[error("no random bytes from the system: {0}")]
    Random(#[from] getrandom::Error),
}

impl PrivateKey {
    /// Makes a key, on two threads where there are two.
    ///
    /// # Errors
    ///
    /// If the system gives no random bytes.
    pub fn generate(size: Size) -> Result<Self, Error> {
        // An error here; once a search has begun, it could only panic.
        getrandom::fill(&mut [0])?;
        loop {
            if let Some(key) = primes(size).first_chunk().and_then(Self::of) {
                return Ok(key);
            }
        }
    }

    /// The key of two primes. `None`: they are too close to each other.
    fn of([one, other]: &[BigUint; 2]) -> Option<Self> {
        let (greater, lesser) = (one.max(other), one.min(other));
        // FIPS 186-5, A.1.3: they differ within the first hundred bits.
        if (greater - lesser).bits() + 100 <= greater.bits() {
            return None;
        }
        let exponent = BigUint::from(EXPONENT);
        let (before_greater, before_lesser) = (greater - 1u32, lesser - 1u32);
        let private = exponent.modinv(&(&before_greater * &before_lesser))?;
        Some(Self {
            modulus: (greater * lesser).to_bytes_be(),
            public_exponent: exponent.to_bytes_be(),
            exponent1: (&private % before_greater).to_bytes_be(),
            exponent2: (&private % before_lesser).to_bytes_be(),
            private_exponent: private.to_bytes_be(),
            coefficient: lesser.modinv(greater)?.to_bytes_be(),
            prime1: greater.to_bytes_be(),
            prime2: lesser.to_bytes_be(),
        })
    }
}

/// Two primes for a key. There are fewer only if a number that was as good as prime was none.
fn primes(size: Size) -> Vec<BigUint> {
    #[cfg(target_arch = "x86_64")]
    if let (Some(short), Some(long)) = (Lanes::<5, 10>::available(), Lanes::<10, 20>::available()) {
        return match size {
            Size::Bits2048 => search::<16>(1 << 15, short),
            Size::Bits4096 => search::<32>(1 << 17, long),
        };
    }
    match size {
        Size::Bits2048 => search::<16>(1 << 15, Portable::<ROUNDS_1024>),
        Size::Bits4096 => search::<32>(1 << 17, Portable::<ROUNDS_2048>),
    }
}

/// Looks on two threads: whoever is lucky goes on, so that neither waits for the other.
fn search<const LIMBS: usize>(sieve: u32, tests: impl Tests<LIMBS> + Sync) -> Vec<BigUint>
where
    Uint<LIMBS>: UnsignedWithMontyForm + RandomBits + RandomMod,
{
    let search = Search { sieve, tests };
    let wanted = Wanted::new(2);
    let found = Mutex::new(Vec::new());
    let look = || {
        while let Some(prime) = search.next(&mut UnwrapErr(SysRng), &wanted) {
            let prime = BigUint::from_bytes_be(prime.to_be_bytes().as_ref());
            found.lock().unwrap_or_else(PoisonError::into_inner).push(prime);
        }
    };
    thread::scope(|scope| {
        // Without another thread it takes longer.
        let _ = thread::Builder::new().name("primes".into()).spawn_scoped(scope, look);
        look();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crypto_primes::hazmat::minimum_mr_iterations;

    use super::*;

    fn holds(size: Size, bits: u64) {
        let key = PrivateKey::generate(size).unwrap();
        let numbers = [
            &key.modulus,
            &key.prime1,
            &key.prime2,
            &key.public_exponent,
            &key.private_exponent,
        ];
        let [n, p, q, e, d] = numbers.map(|bytes| BigUint::from_bytes_be(bytes));
        let [dp, dq, inverse] =
            [&key.exponent1, &key.exponent2, &key.coefficient].map(|bytes| BigUint::from_bytes_be(bytes));
        assert_eq!((n.bits(), p.bits(), q.bits()), (bits, bits / 2, bits / 2));
        assert_eq!(&p * &q, n);
        assert!(p > q);
        for before in [&p - 1u32, &q - 1u32] {
            assert_eq!(&d * &e % before, BigUint::from(1u32));
        }
        assert_eq!((dp, dq), (&d % (&p - 1u32), &d % (&q - 1u32)));
        assert_eq!(inverse * &q % &p, BigUint::from(1u32));
        // What is encrypted is decrypted.
        let message = BigUint::from_bytes_be(b"fleet");
        assert_eq!(message.modpow(&e, &n).modpow(&d, &n), message);
    }

    #[test]
    fn numbers_belong_together() {
        holds(Size::Bits2048, 2048);
        holds(Size::Bits4096, 4096);
    }

    #[test]
    fn every_key_is_another() {
        let [one, other] = [(); 2].map(|()| PrivateKey::generate(Size::Bits2048).unwrap());
        assert_ne!((&one.prime1, &one.prime2), (&other.prime1, &other.prime2));
    }

    #[test]
    fn primes_close_to_each_other_make_no_key() {
        let far: BigUint = BigUint::from(3u32) << 1022u32;
        assert!(PrivateKey::of(&[far.clone(), far.clone()]).is_none());
        assert!(PrivateKey::of(&[&far + (BigUint::from(1u32) << 920u32), far]).is_none());
    }

    #[test]
    fn a_composite_passes_with_a_chance_of_less_than_2_to_minus_112() {
        assert_eq!(minimum_mr_iterations(1024, 112), Some(ROUNDS_1024));
        assert_eq!(minimum_mr_iterations(2048, 112), Some(ROUNDS_2048));
        // In lanes there are more.
        assert!(prime::LANES + 1 >= ROUNDS_1024.max(ROUNDS_2048));
        // The last round alone.
        assert_eq!(minimum_mr_iterations(1024, 40), Some(1));
    }
}
