//! Verification with a public key, which needs no token.

use std::fmt;

use aws_lc_rs::digest::{Algorithm, Digest, SHA256, SHA384, SHA512, digest};
use aws_lc_rs::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use formats::algorithms::SignatureScheme;
use formats::material::{PublicKey, verify_pss};

/// The input of a signature.
#[derive(Clone, Copy)]
pub enum SignatureInput<'a> {
    /// The message.
    Message(&'a [u8]),
    /// The digest of a message that the caller hashed, with the hash of the scheme.
    Digest(&'a [u8]),
}

impl fmt::Debug for SignatureInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignatureInput([redacted])")
    }
}

/// Whether the signature is valid for the key in `spki`; none if the scheme has no public keys. A
/// malformed signature is not valid.
pub(super) fn with_public_key(
    scheme: SignatureScheme,
    spki: &[u8],
    input: SignatureInput<'_>,
    signature: &[u8],
) -> Option<bool> {
    let algorithm = algorithm(scheme)?;
    let key = UnparsedPublicKey::new(algorithm, spki);
    Some(match input {
        SignatureInput::Message(message) => key.verify(message, signature).is_ok(),
        SignatureInput::Digest(digest) => {
            imported(digest).is_some_and(|digest| key.verify_digest(&digest, signature).is_ok())
        }
    })
}

/// Whether a signature with RSA-PSS is valid, whose salt has the given length or any length.
pub(super) fn with_salt(
    scheme: SignatureScheme,
    spki: &[u8],
    input: SignatureInput<'_>,
    salt: Option<usize>,
    signature: &[u8],
) -> bool {
    let Some(hash) = HASHES.into_iter().find(|hash| scheme.digest_len() == Some(hash.output_len()))
    else {
        return false;
    };
    let made;
    let digest = match input {
        SignatureInput::Message(message) => {
            made = digest(hash, message);
            made.as_ref()
        }
        SignatureInput::Digest(digest) => digest,
    };
    PublicKey::from_spki(spki).is_ok_and(|key| verify_pss(&key, hash, digest, salt, signature))
}

const HASHES: [&Algorithm; 3] = [&SHA256, &SHA384, &SHA512];

/// A digest of the hash with its length. A key refuses the digest of another hash than its own.
fn imported(digest: &[u8]) -> Option<Digest> {
    let hash = HASHES.into_iter().find(|hash| hash.output_len() == digest.len())?;
    Digest::import_less_safe(digest, hash).ok()
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
        SignatureScheme::MlDsa44 => &signature::ML_DSA_44,
        SignatureScheme::MlDsa65 => &signature::ML_DSA_65,
        SignatureScheme::MlDsa87 => &signature::ML_DSA_87,
        SignatureScheme::HmacSha256 => return None,
    })
}
