//! The algorithm of a wrapped key, by its length.

use crate::keys::Usage;
use formats::material::Algorithm;

/// The first part, the ephemeral key, is as long as the modulus of import keys: they are RSA-4096.
const FIRST_PART: usize = 512;

/// AES-KWP puts as many bytes before the key, and fills it up to a multiple of as many.
const BLOCK: usize = 8;

/// Of RSA keys, with the lengths of their moduli.
const RSA: [(Algorithm, usize); 3] =
    [(Algorithm::Rsa2048, 256), (Algorithm::Rsa3072, 384), (Algorithm::Rsa4096, 512)];

/// The algorithm of a wrapped key of this length, if the length is unique. An AES-256 key and the
/// shortest HMAC key have the same length; their use distinguishes them.
///
/// It is a guess without effect on security: the token unwraps into a key of this kind, whose length
/// or the modulus is proven, or into none.
pub(super) fn likely_algorithm(wrapped: usize, usage: Option<Usage>) -> Option<Algorithm> {
    let key = wrapped.checked_sub(FIRST_PART + BLOCK)?;
    match key {
        16 => Some(Algorithm::Aes128),
        32 if usage == Some(Usage::Sig) => Some(Algorithm::HmacSha256),
        32 => Some(Algorithm::Aes256),
        _ => RSA
            .into_iter()
            .find(|(_, modulus)| is_pkcs8_of_rsa(key, *modulus))
            .map(|(algorithm, _)| algorithm),
    }
}

/// PKCS#8 has the modulus and the private exponent, which is as long, and five numbers of half the
/// length: the primes, two exponents, the coefficient. Around these nine halves are some 70 bytes:
/// what says how long each number is, the public exponent, the name of RSA. There may be more, where
/// the public exponent is long or attributes stand behind the key, but not another modulus.
fn is_pkcs8_of_rsa(key: usize, modulus: usize) -> bool {
    let numbers = modulus / 2 * 9;
    (numbers..numbers + 160).contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unique_length_determines_the_kind_of_key() {
        use Algorithm::{Aes128, Aes256, HmacSha256, Rsa2048, Rsa3072, Rsa4096};
        let likely = |second_part: usize| likely_algorithm(512 + second_part, None);
        for (second_part, algorithm) in [
            (24, Some(Aes128)),
            (40, Some(Aes256)),
            // PKCS#8 of 1,217, 1,792 and 2,374 bytes, as OpenSSL writes it.
            (1_232, Some(Rsa2048)),
            (1_800, Some(Rsa3072)),
            (2_384, Some(Rsa4096)),
            // HMAC keys of 64 and of 1,024 bytes; keys on Ed25519, P-256 and P-521.
            (72, None),
            (1_032, None),
            (56, None),
            (152, None),
            (256, None),
            // Between RSA-2048 and RSA-3072, and nothing.
            (1_520, None),
            (8, None),
            (0, None),
        ] {
            assert_eq!(likely(second_part), algorithm, "{second_part}");
        }
        assert_eq!(likely_algorithm(511, None), None);
        assert_eq!(likely_algorithm(552, Some(Usage::Sig)), Some(HmacSha256));
        assert_eq!(likely_algorithm(552, Some(Usage::Data)), Some(Aes256));
    }
}
