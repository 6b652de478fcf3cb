//! Whether the numbers of an RSA private key follow from its primes, and whether those are prime.

use crypto_bigint::{BoxedUint, ConcatenatingMul as _, NonZero};
use crypto_primes::Flavor;
use zeroize::Zeroizing;

use super::{RsaParts, bits};
use crate::problem::{Code, Problem};

/// Primes that are nearer to each other than this many bits below their own length are found by
/// Fermat's method (FIPS 186-5, A.1.1).
const DISTANCE: usize = 100;

/// Checks everything but the public half on its own.
pub(super) fn check(parts: &RsaParts) -> Result<(), Problem> {
    let half = bits(&parts.modulus) / 2;
    for (member, prime) in [("p", &parts.prime1), ("q", &parts.prime2)] {
        if bits(prime) != half {
            return Err(Problem::new(
                member,
                Code::Length,
                "must have half the length of the modulus",
            ));
        }
    }
    let numbers = Numbers::of(parts);
    if *numbers.p.concatenating_mul(&*numbers.q).to_be_bytes() != *parts.modulus {
        return Err(unlike("n", "must be the product of p and q"));
    }
    let distance = if *numbers.p > *numbers.q {
        numbers.p.wrapping_sub(&*numbers.q)
    } else {
        numbers.q.wrapping_sub(&*numbers.p)
    };
    if usize::try_from(distance.bits_vartime()).unwrap_or_default() <= half - DISTANCE {
        return Err(Problem::new(
            "q",
            Code::Range,
            "must be farther from p; primes this close can be factored",
        ));
    }
    for (member, prime) in [("p", &numbers.p), ("q", &numbers.q)] {
        if !crypto_primes::is_prime(Flavor::Any, &**prime) {
            return Err(Problem::new(member, Code::Range, "must be prime"));
        }
    }
    numbers.check_exponents(parts)
}

struct Numbers {
    e: BoxedUint,
    d: Zeroizing<BoxedUint>,
    p: Zeroizing<BoxedUint>,
    q: Zeroizing<BoxedUint>,
}

impl Numbers {
    fn of(parts: &RsaParts) -> Self {
        Self {
            e: number(&parts.exponent),
            d: Zeroizing::new(number(&parts.private_exponent)),
            p: Zeroizing::new(number(&parts.prime1)),
            q: Zeroizing::new(number(&parts.prime2)),
        }
    }

    fn check_exponents(&self, parts: &RsaParts) -> Result<(), Problem> {
        if self.d.bits_vartime() as usize > bits(&parts.modulus) {
            return Err(Problem::new("d", Code::Length, "must not be longer than the modulus"));
        }
        for (member, prime, part) in
            [("dp", &self.p, &parts.exponent1), ("dq", &self.q, &parts.exponent2)]
        {
            let order = nonzero(prime.wrapping_sub(BoxedUint::one()))?;
            let rest = Zeroizing::new(self.d.rem(&order));
            let product = Zeroizing::new(rest.concatenating_mul(&self.e));
            if product.rem(&order) != BoxedUint::one() {
                return Err(unlike("d", "must be the inverse of e modulo p - 1 and q - 1"));
            }
            if *rest != number(part) {
                return Err(unlike(member, "must be d modulo its prime minus one"));
            }
        }
        let coefficient = number(&parts.coefficient);
        let p = nonzero((*self.p).clone())?;
        if coefficient >= *self.p
            || coefficient.concatenating_mul(&*self.q).rem(&p) != BoxedUint::one()
        {
            return Err(unlike("qi", "must be the inverse of q modulo p"));
        }
        Ok(())
    }
}

fn number(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}

fn nonzero(number: BoxedUint) -> Result<NonZero<BoxedUint>, Problem> {
    number.into_nz().into_option().ok_or_else(|| Problem::new("p", Code::Range, "must be prime"))
}

fn unlike(member: &'static str, message: &'static str) -> Problem {
    Problem::new(member, Code::Conflict, message)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeyPair, KeySize};

    use super::*;
    use crate::material::{PrivateKey, PrivateParts, rsa};

    fn key() -> RsaParts {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let der = pair.as_der().unwrap();
        let read = PrivateKey::from_pkcs8(der.as_ref()).unwrap();
        assert_eq!(read.to_pkcs8().as_slice(), der.as_ref());
        let PrivateParts::Rsa(parts) = read.parts() else { panic!("not an RSA key") };
        parts.clone()
    }

    #[test]
    fn an_inconsistent_number_is_reported() {
        let good = key();
        let foreign = key();
        type Spoil = fn(&mut RsaParts, RsaParts);
        let cases: [(&str, Spoil); 8] = [
            ("n", |key, other| key.modulus = other.modulus),
            ("d", |key, other| key.private_exponent = other.private_exponent),
            ("n", |key, other| key.prime1 = other.prime1),
            ("n", |key, other| key.prime2 = other.prime2),
            ("dp", |key, other| key.exponent1 = other.exponent1),
            ("dq", |key, other| key.exponent2 = other.exponent2),
            ("qi", |key, other| key.coefficient = other.coefficient),
            ("p", |key, _| key.prime1.push(1)),
        ];
        assert_eq!(rsa::check(&good), Ok(()));
        for (member, spoil) in cases {
            let mut bad = good.clone();
            spoil(&mut bad, foreign.clone());
            assert_eq!(rsa::check(&bad).unwrap_err().field, member);
        }
    }

    #[test]
    fn primes_side_by_side_are_refused() {
        let mut near = key();
        near.prime2 = near.prime1.clone();
        let square = number(&near.prime1).concatenating_mul(&number(&near.prime1));
        near.modulus = square.to_be_bytes().to_vec();
        let problem = rsa::check(&near).unwrap_err();
        assert_eq!((problem.field.as_str(), problem.code), ("q", Code::Range));
    }

    #[test]
    fn a_composite_among_the_primes_is_refused() {
        let good = key();
        let mut bad = good.clone();
        // Odd, of the right length, and divisible by three.
        let six = nonzero(BoxedUint::from(6_u8)).unwrap();
        let p = number(&good.prime1);
        let composite = p.wrapping_sub(p.rem(&six)).wrapping_sub(BoxedUint::from(3_u8));
        bad.prime1 = Zeroizing::new(composite.to_be_bytes().to_vec());
        bad.modulus = composite.concatenating_mul(&number(&good.prime2)).to_be_bytes().to_vec();
        assert_eq!(check(&bad).unwrap_err().field, "p");
    }
}
