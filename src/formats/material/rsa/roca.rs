//! The mark of ROCA: primes of one library of smart cards are powers of 65537 modulo a product of
//! small primes, and so are the moduli they make. (Nemec and others, "The Return of Coppersmith's
//! Attack", 2017.)

/// The odd primes of the smallest product that library uses.
pub(super) const PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

const GENERATOR: u32 = 65_537;

/// Whether the modulus is a power of 65537 modulo each of the primes. An honest modulus passes
/// for marked once in 2^28.
pub(super) fn is_marked(modulus: &[u8]) -> bool {
    PRIMES.into_iter().all(|prime| {
        let wanted = remainder(modulus, prime);
        let mut power = 1;
        (0..prime).any(|_| {
            power = power * (GENERATOR % prime) % prime;
            power == wanted
        })
    })
}

/// The least of the primes that divides the modulus.
pub(super) fn small_divisor(modulus: &[u8]) -> Option<u32> {
    PRIMES.into_iter().find(|prime| remainder(modulus, *prime) == 0)
}

/// The remainder of a division by a small number.
pub(super) fn remainder(number: &[u8], prime: u32) -> u32 {
    number.iter().fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % prime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_the_generator_are_marked() {
        // 65537^7 is a power of the generator modulo anything.
        let power = 65_537_u128.pow(7).to_be_bytes();
        assert!(is_marked(&power));
        let mut beside = power;
        beside[15] ^= 2;
        assert!(!is_marked(&beside));
    }

    #[test]
    fn a_small_divisor_is_found() {
        assert_eq!(small_divisor(&[1, 5]), Some(3));
        assert_eq!(small_divisor(&(167_u32 * 173).to_be_bytes()), Some(167));
        assert_eq!(small_divisor(&(173_u32 * 179).to_be_bytes()), None);
    }
}
