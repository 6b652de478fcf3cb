//! The signature algorithm of a key, and what it signs.

use std::borrow::Cow;

use aws_lc_rs::digest;
use formats::algorithms::{Hash, SignatureScheme};
use formats::material::Algorithm;
use formats::problem::{Code, Problem};

use super::{RsaPadding, SignedInput};
use crate::keys::SignatureInput;
use crate::protection::operate::curve;

/// The algorithms of keys that sign.
pub(super) const SIGNING: [Algorithm; 10] = [
    Algorithm::Rsa2048,
    Algorithm::Rsa3072,
    Algorithm::Rsa4096,
    Algorithm::P256,
    Algorithm::P384,
    Algorithm::P521,
    Algorithm::Ed25519,
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
];

/// The algorithms of keys that make a MAC.
pub(super) const MACS: [Algorithm; 1] = [Algorithm::HmacSha256];

/// The signature algorithm of a key; none if keys of this algorithm do not sign.
pub(super) fn scheme(
    algorithm: Algorithm,
    hash: Hash,
    padding: RsaPadding,
) -> Option<SignatureScheme> {
    use SignatureScheme as S;
    Some(match algorithm {
        Algorithm::Rsa2048 | Algorithm::Rsa3072 | Algorithm::Rsa4096 => match (padding, hash) {
            (RsaPadding::Pss { .. }, Hash::Sha256) => S::RsaPssSha256,
            (RsaPadding::Pss { .. }, Hash::Sha384) => S::RsaPssSha384,
            (RsaPadding::Pss { .. }, Hash::Sha512) => S::RsaPssSha512,
            (RsaPadding::Pkcs1v15, Hash::Sha256) => S::RsaSha256,
            (RsaPadding::Pkcs1v15, Hash::Sha384) => S::RsaSha384,
            (RsaPadding::Pkcs1v15, Hash::Sha512) => S::RsaSha512,
        },
        Algorithm::P256 => S::EcdsaSha256,
        Algorithm::P384 => S::EcdsaSha384,
        Algorithm::P521 => S::EcdsaSha512,
        Algorithm::Ed25519 => S::Ed25519,
        Algorithm::MlDsa44 => S::MlDsa44,
        Algorithm::MlDsa65 => S::MlDsa65,
        Algorithm::MlDsa87 => S::MlDsa87,
        Algorithm::HmacSha256 => S::HmacSha256,
        Algorithm::MlKem768
        | Algorithm::MlKem1024
        | Algorithm::P256MlKem768
        | Algorithm::Aes256
        | Algorithm::Aes128 => return None,
    })
}

/// What a key with this scheme signs: the message itself, or the digest of it.
pub(super) enum Signed<'a> {
    Message(&'a [u8]),
    Digest(Cow<'a, [u8]>),
}

impl<'a> Signed<'a> {
    /// The input for a scheme. Its digest has the hash of the request.
    pub(super) fn of(
        scheme: SignatureScheme,
        hash: Hash,
        input: &'a SignedInput,
    ) -> Result<Self, Problem> {
        let Some(length) = scheme.digest_len() else {
            return match input.is_digest {
                false => Ok(Self::Message(&input.bytes)),
                true => Err(unsupported(scheme)),
            };
        };
        let algorithm = hash.algorithm();
        if input.is_digest && input.bytes.len() != algorithm.output_len() {
            let message = format!("must be a digest of {} bytes", algorithm.output_len());
            return Err(Problem::new("input", Code::Length, message));
        }
        if !input.is_digest && algorithm.output_len() == length {
            return Ok(Self::Message(&input.bytes));
        }
        let digest = match input.is_digest {
            true => Cow::Borrowed(input.bytes.as_slice()),
            false => Cow::Owned(digest::digest(algorithm, &input.bytes).as_ref().to_vec()),
        };
        Ok(Self::Digest(match curve(scheme) {
            Some(_) => fitted(&digest, length).map_or(digest, Cow::Owned),
            None => digest,
        }))
    }

    pub(super) fn as_input(&self) -> SignatureInput<'_> {
        match self {
            Self::Message(message) => SignatureInput::Message(message),
            Self::Digest(digest) => SignatureInput::Digest(digest),
        }
    }
}

fn unsupported(scheme: SignatureScheme) -> Problem {
    let message = format!("is not supported for {scheme}, which signs the message itself");
    Problem::new("prehashed", Code::Unsupported, message)
}

/// A digest of another length as ECDSA uses it: its first bytes, or the same number with leading zeros (FIPS
/// 186-5, section 6.4.1). None if it has this length.
fn fitted(digest: &[u8], length: usize) -> Option<Vec<u8>> {
    if digest.len() == length {
        return None;
    }
    let mut fitted = vec![0; length.saturating_sub(digest.len())];
    fitted.extend(digest.iter().take(length));
    Some(fitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_fits_the_curve_as_the_same_number() {
        assert_eq!(fitted(&[1, 2], 2), None);
        assert_eq!(fitted(&[1, 2], 4), Some(vec![0, 0, 1, 2]));
        assert_eq!(fitted(&[1, 2, 3], 2), Some(vec![1, 2]));
    }
}
