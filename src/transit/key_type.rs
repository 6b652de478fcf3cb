//! The names of key types.

use engine::keys::Usage;
use formats::material::Algorithm;

/// The algorithm, the use of its keys, its type, and the name of its versions.
const TYPES: [(Algorithm, Usage, &str, &str); 13] = [
    (Algorithm::Aes128, Usage::Data, "aes128-gcm96", ""),
    (Algorithm::Aes256, Usage::Data, "aes256-gcm96", ""),
    (Algorithm::Rsa2048, Usage::Sig, "rsa-2048", "rsa-2048"),
    (Algorithm::Rsa3072, Usage::Sig, "rsa-3072", "rsa-3072"),
    (Algorithm::Rsa4096, Usage::Sig, "rsa-4096", "rsa-4096"),
    (Algorithm::P256, Usage::Sig, "ecdsa-p256", "P-256"),
    (Algorithm::P384, Usage::Sig, "ecdsa-p384", "P-384"),
    (Algorithm::P521, Usage::Sig, "ecdsa-p521", "P-521"),
    (Algorithm::Ed25519, Usage::Sig, "ed25519", "ed25519"),
    (Algorithm::MlDsa44, Usage::Sig, "mldsa-44", "mldsa-44"),
    (Algorithm::MlDsa65, Usage::Sig, "mldsa-65", "mldsa-65"),
    (Algorithm::MlDsa87, Usage::Sig, "mldsa-87", "mldsa-87"),
    (Algorithm::HmacSha256, Usage::Sig, "hmac", ""),
];

/// The type of keys with this algorithm; none if they are not visible here.
pub(crate) fn name(algorithm: Algorithm) -> Option<&'static str> {
    TYPES.iter().find(|(known, ..)| *known == algorithm).map(|(_, _, name, _)| *name)
}

/// The name of the versions of keys with this algorithm.
pub(crate) fn version_name(algorithm: Algorithm) -> &'static str {
    TYPES.iter().find(|(known, ..)| *known == algorithm).map_or("", |(.., name)| name)
}

/// The algorithm and the use of keys of this type.
pub(crate) fn algorithm(name: &str) -> Option<(Algorithm, Usage)> {
    let (algorithm, usage, ..) = TYPES.iter().find(|(_, _, known, _)| *known == name)?;
    Some((*algorithm, *usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_names_its_algorithm() {
        for (known, usage, name, _) in TYPES {
            assert_eq!(algorithm(name), Some((known, usage)));
            assert_eq!(super::name(known), Some(name));
            assert!(usage.allows(known));
        }
    }
}
