//! The names of key types.

use engine::keys::Usage;
use formats::material::Algorithm;

/// The algorithm, its type, and the name of its versions.
const TYPES: [(Algorithm, &str, &str); 13] = [
    (Algorithm::Aes128, "aes128-gcm96", ""),
    (Algorithm::Aes256, "aes256-gcm96", ""),
    (Algorithm::Rsa2048, "rsa-2048", "rsa-2048"),
    (Algorithm::Rsa3072, "rsa-3072", "rsa-3072"),
    (Algorithm::Rsa4096, "rsa-4096", "rsa-4096"),
    (Algorithm::P256, "ecdsa-p256", "P-256"),
    (Algorithm::P384, "ecdsa-p384", "P-384"),
    (Algorithm::P521, "ecdsa-p521", "P-521"),
    (Algorithm::Ed25519, "ed25519", "ed25519"),
    (Algorithm::MlDsa44, "mldsa-44", "mldsa-44"),
    (Algorithm::MlDsa65, "mldsa-65", "mldsa-65"),
    (Algorithm::MlDsa87, "mldsa-87", "mldsa-87"),
    (Algorithm::HmacSha256, "hmac", ""),
];

/// The type of keys with this algorithm; none if they are not visible here.
pub(crate) fn name(algorithm: Algorithm) -> Option<&'static str> {
    TYPES.iter().find(|(known, _, _)| *known == algorithm).map(|(_, name, _)| *name)
}

/// The name of the versions of keys with this algorithm.
pub(crate) fn version_name(algorithm: Algorithm) -> &'static str {
    TYPES.iter().find(|(known, _, _)| *known == algorithm).map_or("", |(_, _, name)| name)
}

/// The algorithm and the use of keys of this type.
pub(crate) fn algorithm(name: &str) -> Option<(Algorithm, Usage)> {
    let (algorithm, _, _) = TYPES.iter().find(|(_, known, _)| *known == name)?;
    let usage = match algorithm {
        Algorithm::Aes128 | Algorithm::Aes256 => Usage::Data,
        Algorithm::Rsa2048
        | Algorithm::Rsa3072
        | Algorithm::Rsa4096
        | Algorithm::P256
        | Algorithm::P384
        | Algorithm::P521
        | Algorithm::Ed25519
        | Algorithm::MlDsa44
        | Algorithm::MlDsa65
        | Algorithm::MlDsa87
        | Algorithm::MlKem768
        | Algorithm::MlKem1024
        | Algorithm::P256MlKem768
        | Algorithm::HmacSha256 => Usage::Sig,
    };
    Some((*algorithm, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_names_its_algorithm() {
        for (known, name, _) in TYPES {
            assert_eq!(algorithm(name).map(|(algorithm, _)| algorithm), Some(known));
            assert_eq!(super::name(known), Some(name));
            assert!(algorithm(name).is_some_and(|(known, usage)| usage.allows(known)));
        }
    }
}
