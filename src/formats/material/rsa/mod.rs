//! RSA keys: the lengths that are offered, and the checks of their numbers.

mod consistency;
mod pss;
mod roca;
mod strength;

pub use self::pss::verify_pss;
use super::{Algorithm, RsaParts};
use crate::problem::{Code, Problem};

/// Checks the public half, then that every number follows from the primes.
pub(super) fn check(parts: &RsaParts) -> Result<(), Problem> {
    check_public(&parts.modulus, &parts.exponent)?;
    consistency::check(parts)
}

/// The least and the greatest public exponent; the greatest is what common libraries verify with.
const EXPONENTS: std::ops::RangeInclusive<u64> = 65_537..=0xffff_ffff;

/// Checks a public key. Both numbers are big-endian without leading zeros.
pub(super) fn check_public(modulus: &[u8], exponent: &[u8]) -> Result<(), Problem> {
    algorithm(modulus)?;
    if modulus.last().is_none_or(|last| last % 2 == 0) {
        return Err(Problem::new("n", Code::Range, "must be odd"));
    }
    check_exponent(exponent)?;
    if let Some(divisor) = roca::small_divisor(modulus) {
        let message = format!("must be the product of two large primes; {divisor} divides it");
        return Err(Problem::new("n", Code::Range, message));
    }
    if roca::is_marked(modulus) {
        return Err(Problem::new(
            "n",
            Code::Unsupported,
            "must not have the fingerprint of ROCA (CVE-2017-15361); create a new key",
        ));
    }
    Ok(())
}

/// Checks that a modulus is hard to factor, as far as the public half shows it. This takes milliseconds, so
/// it happens when a key arrives and not when its record is read.
pub(super) fn check_strength(modulus: &[u8]) -> Result<(), Problem> {
    strength::check(modulus)
}

/// The kind of key that a modulus makes.
pub(super) fn algorithm(modulus: &[u8]) -> Result<Algorithm, Problem> {
    match bits(modulus) {
        2048 => Ok(Algorithm::Rsa2048),
        3072 => Ok(Algorithm::Rsa3072),
        4096 => Ok(Algorithm::Rsa4096),
        fewer @ ..2048 => Err(Problem::new(
            "n",
            Code::Range,
            format!("must have at least 2048 bits; this modulus has {fewer}"),
        )),
        other => Err(Problem::new(
            "n",
            Code::Unsupported,
            format!("must have 2048, 3072 or 4096 bits; this modulus has {other}"),
        )),
    }
}

fn check_exponent(exponent: &[u8]) -> Result<(), Problem> {
    let value = (exponent.len() <= 8)
        .then(|| exponent.iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte)));
    match value {
        Some(value) if EXPONENTS.contains(&value) && value % 2 == 1 => Ok(()),
        _ => Err(Problem::new("e", Code::Range, "must be odd, at least 65537 and below 2^32")),
    }
}

fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| {
        8 * number.len() - usize::try_from(first.leading_zeros()).unwrap_or_default()
    })
}

/// The number without its leading zeros.
pub(super) fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_lengths_are_reported() {
        for (length, code) in [(128, Code::Range), (320, Code::Unsupported)] {
            let problem = algorithm(&vec![0xff; length]).unwrap_err();
            assert_eq!((problem.field.as_str(), problem.code), ("n", code));
        }
        assert_eq!(algorithm(&[0xff; 256]), Ok(Algorithm::Rsa2048));
        assert_eq!(algorithm(&[0x7f; 256]).unwrap_err().code, Code::Range);
    }

    #[test]
    fn weak_exponents_are_refused() {
        for exponent in [&[3][..], &[1, 0, 0], &[1, 0, 2], &[1, 0, 0, 0, 1], &[1; 9], &[]] {
            assert!(check_exponent(exponent).is_err(), "{exponent:?}");
        }
        assert_eq!(check_exponent(&[1, 0, 1]), Ok(()));
        assert_eq!(check_exponent(&[0xff; 4]), Ok(()));
    }
}
