//! Verification with a public key, which needs no token.

use aws_lc_rs::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use hsm::SignatureScheme;

/// Whether the signature is valid for the key in `spki`; none if the scheme has no public keys. A
/// malformed signature is not valid.
pub(super) fn with_public_key(
    scheme: SignatureScheme,
    spki: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Option<bool> {
    let algorithm = algorithm(scheme)?;
    let key = UnparsedPublicKey::new(algorithm, spki);
    Some(key.verify(message, signature).is_ok())
}

fn algorithm(scheme: SignatureScheme) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match scheme {
        SignatureScheme::RsaSha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        SignatureScheme::RsaSha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        SignatureScheme::RsaSha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        SignatureScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
        SignatureScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
        SignatureScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        SignatureScheme::EcdsaSha256 => &signature::ECDSA_P256_SHA256_FIXED,
        SignatureScheme::EcdsaSha384 => &signature::ECDSA_P384_SHA384_FIXED,
        SignatureScheme::EcdsaSha512 => &signature::ECDSA_P521_SHA512_FIXED,
        SignatureScheme::Ed25519 => &signature::ED25519,
        SignatureScheme::HmacSha256 => return None,
    })
}
