//! Weak moduli, as far as the public half shows them: partial validation (SP 800-89, 5.3.3) and Fermat's
//! factorization.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Gcd as _, Odd, Resize as _};

use super::roca::remainder;
use crate::problem::{Code, Problem};

/// Smaller numbers must not divide a modulus (SP 800-89).
const LEAST_FACTOR: u32 = 752;

/// Steps of Fermat's factorization. They find primes that share their leading half and some bits more.
const FERMAT_STEPS: usize = 100;

/// Checks a modulus that is odd and of an offered length.
pub(super) fn check(modulus: &[u8]) -> Result<(), Problem> {
    if let Some(divisor) = (3..LEAST_FACTOR).find(|divisor| remainder(modulus, *divisor) == 0) {
        let message = format!("must be the product of two large primes; {divisor} divides it");
        return Err(weak(message));
    }
    let number = BoxedUint::from_be_slice_vartime(modulus);
    if is_close_product(&number) {
        return Err(weak("must be the product of two primes that are far apart"));
    }
    match number.into_odd().into_option() {
        Some(odd) if !is_prime_power(&odd) => Ok(()),
        _ => Err(weak("must be the product of two different primes")),
    }
}

/// Whether the modulus is a prime or a power of a prime. A prime `p` divides `2^n - 2` for every power `n`
/// of `p`. For the product of two large random primes, a common divisor is as improbable as a guess of
/// one of them.
fn is_prime_power(modulus: &Odd<BoxedUint>) -> bool {
    let two = BoxedUint::from(2_u8);
    let base = two.clone().resize_unchecked(modulus.bits_precision());
    let params = BoxedMontyParams::new_vartime(modulus.clone());
    let power = BoxedMontyForm::new(base, &params).pow(modulus.as_ref());
    let difference = power.retrieve().wrapping_sub(&two);
    modulus.gcd_vartime(&difference).get() != BoxedUint::one()
}

/// Whether Fermat's factorization finds the factors within its steps: `n = a² - b²` with `a` near the
/// square root of `n`.
fn is_close_product(modulus: &BoxedUint) -> bool {
    let one = BoxedUint::one();
    // One limb more, so that no square overflows.
    let number = modulus.resize_unchecked(modulus.bits_precision() + 64);
    let mut root = number.floor_sqrt_vartime();
    let mut rest = number.wrapping_sub(root.wrapping_mul(&root));
    if rest.bits_vartime() == 0 {
        return true;
    }
    root = root.wrapping_add(&one);
    rest = root.wrapping_mul(&root).wrapping_sub(&number);
    for _ in 0..FERMAT_STEPS {
        if rest.checked_sqrt_vartime().is_some() {
            return true;
        }
        rest = rest.wrapping_add(&root).wrapping_add(&root).wrapping_add(&one);
        root = root.wrapping_add(&one);
    }
    false
}

fn weak(message: impl Into<String>) -> Problem {
    Problem::new("n", Code::Range, message.into())
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use crypto_bigint::ConcatenatingMul as _;
    use crypto_primes::{Flavor, is_prime};

    use super::*;
    use crate::material::rsa::{RsaParts, check_public};
    use crate::material::{PrivateKey, PrivateParts, PublicKey, PublicParts};

    fn key(size: KeySize) -> RsaParts {
        let pair = KeyPair::generate(size).unwrap();
        let read = PrivateKey::from_pkcs8(pair.as_der().unwrap().as_ref()).unwrap();
        let PrivateParts::Rsa(parts) = read.parts() else { panic!("not an RSA key") };
        parts.clone()
    }

    fn number(bytes: &[u8]) -> BoxedUint {
        BoxedUint::from_be_slice_vartime(bytes)
    }

    fn product(one: &BoxedUint, other: &BoxedUint) -> Vec<u8> {
        one.concatenating_mul(other).to_be_bytes().to_vec()
    }

    fn next_prime(prime: &BoxedUint) -> BoxedUint {
        let two = BoxedUint::from(2_u8);
        let mut next = prime.wrapping_add(&two);
        while !is_prime(Flavor::Any, &next) {
            next = next.wrapping_add(&two);
        }
        next
    }

    /// The message of the refusal at an import. The same key can still be read from the database.
    fn refusal(modulus: Vec<u8>) -> String {
        let exponent = vec![1, 0, 1];
        let key = PublicKey::new(PublicParts::Rsa { modulus, exponent });
        key.unwrap().check_strength().unwrap_err().message.into_owned()
    }

    #[test]
    fn a_valid_key_is_accepted() {
        for size in [KeySize::Rsa2048, KeySize::Rsa3072, KeySize::Rsa4096] {
            assert_eq!(check(&key(size).modulus), Ok(()));
        }
    }

    #[test]
    fn primes_and_their_powers_are_refused() {
        // Half of a key of 4096 bits has 2048 bits.
        let prime = key(KeySize::Rsa4096).prime1.to_vec();
        let different = "must be the product of two different primes";
        assert_eq!(refusal(prime), different);
        let prime = number(&key(KeySize::Rsa2048).prime1);
        let square = product(&prime, &prime);
        assert!(is_prime_power(&number(&square).into_odd().unwrap()));
        assert_eq!(refusal(square), "must be the product of two primes that are far apart");
    }

    #[test]
    fn neighbouring_primes_are_refused() {
        let prime = number(&key(KeySize::Rsa2048).prime1);
        let next = next_prime(&prime);
        assert_eq!(
            refusal(product(&prime, &next)),
            "must be the product of two primes that are far apart"
        );
    }

    #[test]
    fn factors_below_752_are_refused() {
        for divisor in [173_u32, 751] {
            let mut modulus = vec![0xff; 256];
            while remainder(&modulus, divisor) != 0 || remainder(&modulus, 2) == 0 {
                let last = modulus.len() - 1;
                let (low, carry) = modulus[last].overflowing_sub(1);
                modulus[last] = low;
                modulus[last - 1] -= u8::from(carry);
            }
            let message = check(&modulus).unwrap_err().message;
            assert!(message.contains("divides it"), "{message}");
        }
    }

    #[test]
    fn moduli_with_the_roca_fingerprint_are_refused() {
        let mut product = BoxedUint::one();
        for prime in super::super::roca::PRIMES {
            product = product.concatenating_mul(&BoxedUint::from(prime));
        }
        let mut power = BoxedUint::one();
        for _ in 0..127 {
            power = power.concatenating_mul(&BoxedUint::from(65_537_u32));
        }
        let shift = 2048 - product.bits_vartime();
        let multiple = product.resize_unchecked(2112).shl(shift);
        let marked = multiple.wrapping_add(&power);
        let marked = marked.to_be_bytes_trimmed_vartime();
        let problem = check_public(&marked, &[1, 0, 1]).unwrap_err();
        assert!(problem.message.contains("CVE-2017-15361"), "{}", problem.message);
    }
}
