//! One operation with a key in the token, and its counterpart in this process with the public
//! half. What a token claims it can do, and whose key it holds, is only believed after this.

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ECDH_P521, PrivateKey};
use aws_lc_rs::rand;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
    UnparsedPublicKey, VerificationAlgorithm,
};
use cryptoki::object::ObjectHandle;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::crypt::{ecdh, gcm, oaep, sign};
use crate::session::Session;
use crate::wrap::encrypt_oaep;
use crate::{Curve, HsmError, OaepHash, PublicKey, SignatureScheme};

const MESSAGE: &[u8] = b"the proof that a key is the one that was meant";

/// Whether the token decrypts with OAEP what the public half encrypted.
pub(crate) fn decrypts(
    session: &Session,
    key: ObjectHandle,
    public: &PublicKey,
    hash: OaepHash,
) -> Result<bool, HsmError> {
    let secret = random()?;
    let ciphertext = encrypt(public, hash, &*secret)?;
    let decrypted = oaep::decrypt(session, key, hash, &ciphertext)?;
    Ok(bool::from(decrypted.as_slice().ct_eq(secret.as_slice())))
}

/// Encrypts with OAEP under the public half.
pub(crate) fn encrypt(
    public: &PublicKey,
    hash: OaepHash,
    message: &[u8],
) -> Result<Vec<u8>, HsmError> {
    let public = rsa(public).ok_or_else(|| HsmError::bad_input("not an RSA key"))?;
    encrypt_oaep(public, hash, message).map_err(|error| HsmError::bad_input(error.to_string()))
}

/// Whether the token derives with a fresh pair's public half what its private half derives with
/// the key's.
pub(crate) fn agrees(
    session: &Session,
    key: ObjectHandle,
    curve: Curve,
    point: &[u8],
) -> Result<bool, HsmError> {
    let algorithm = match curve {
        Curve::P256 => &ECDH_P256,
        Curve::P384 => &ECDH_P384,
        Curve::P521 => &ECDH_P521,
    };
    let no_pair = |_| HsmError::refused("no key pair for the proof");
    let fresh = PrivateKey::generate(algorithm).map_err(no_pair)?;
    let peer = fresh.compute_public_key().map_err(no_pair)?;
    let derived = ecdh::derive(session, key, curve, peer.as_ref())?;
    let ours = agreement::UnparsedPublicKey::new(algorithm, point);
    Ok(agreement::agree(&fresh, ours, (), |secret| {
        Ok(bool::from(derived.as_slice().ct_eq(secret)))
    })
    .unwrap_or(false))
}

/// Whether the public half verifies what the token signs.
pub(crate) fn signs(
    session: &Session,
    key: ObjectHandle,
    public: &PublicKey,
    scheme: SignatureScheme,
) -> Result<bool, HsmError> {
    let signature = signature(session, key, scheme)?;
    Ok(match (public, verification(scheme)) {
        (PublicKey::Rsa { .. }, Verification::Rsa(algorithm)) => {
            rsa(public).is_some_and(|public| public.verify(algorithm, MESSAGE, &signature).is_ok())
        }
        (
            PublicKey::Ec { point, .. } | PublicKey::Ed25519 { point },
            Verification::Point(algorithm),
        ) => UnparsedPublicKey::new(algorithm, point)
            .verify(MESSAGE, &signature)
            .is_ok(),
        (
            PublicKey::Rsa { .. } | PublicKey::Ec { .. } | PublicKey::Ed25519 { .. },
            Verification::Rsa(_) | Verification::Point(_) | Verification::None,
        ) => false,
    })
}

/// Whether an AES key opens in the token what it sealed there.
pub(crate) fn opens_what_it_sealed(session: &Session, key: ObjectHandle) -> Result<bool, HsmError> {
    let secret = random()?;
    let sealed = gcm::encrypt(session, key, MESSAGE, &*secret)?;
    let ciphertext = [sealed.ciphertext, sealed.tag.to_vec()].concat();
    let opened = gcm::decrypt(session, key, sealed.iv, MESSAGE, &ciphertext)?;
    Ok(bool::from(opened.as_slice().ct_eq(secret.as_slice())))
}

/// Whether an HMAC key gives the same value twice.
pub(crate) fn macs_alike(session: &Session, key: ObjectHandle) -> Result<bool, HsmError> {
    let first = signature(session, key, SignatureScheme::HmacSha256)?;
    let again = signature(session, key, SignatureScheme::HmacSha256)?;
    Ok(bool::from(first.ct_eq(&again)))
}

fn signature(
    session: &Session,
    key: ObjectHandle,
    scheme: SignatureScheme,
) -> Result<Vec<u8>, HsmError> {
    sign::sign(session, key, scheme, &sign::prepare(scheme, MESSAGE))
}

/// What checks a signature here.
enum Verification {
    Rsa(&'static RsaParameters),
    Point(&'static dyn VerificationAlgorithm),
    /// A MAC has no public half.
    None,
}

fn verification(scheme: SignatureScheme) -> Verification {
    use SignatureScheme as S;
    match scheme {
        S::RsaPkcs1Sha256 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        S::RsaPkcs1Sha384 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        S::RsaPkcs1Sha512 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        S::RsaPssSha256 => Verification::Rsa(&RSA_PSS_2048_8192_SHA256),
        S::RsaPssSha384 => Verification::Rsa(&RSA_PSS_2048_8192_SHA384),
        S::RsaPssSha512 => Verification::Rsa(&RSA_PSS_2048_8192_SHA512),
        S::EcdsaSha256 => Verification::Point(&ECDSA_P256_SHA256_FIXED),
        S::EcdsaSha384 => Verification::Point(&ECDSA_P384_SHA384_FIXED),
        S::EcdsaSha512 => Verification::Point(&ECDSA_P521_SHA512_FIXED),
        S::Ed25519 => Verification::Point(&ED25519),
        S::HmacSha256 => Verification::None,
    }
}

fn rsa(public: &PublicKey) -> Option<PublicKeyComponents<&[u8]>> {
    match public {
        PublicKey::Rsa { modulus, exponent } => Some(PublicKeyComponents {
            n: modulus,
            e: exponent,
        }),
        PublicKey::Ec { .. } | PublicKey::Ed25519 { .. } => None,
    }
}

/// A secret that nobody has seen.
pub(crate) fn random() -> Result<Zeroizing<[u8; 32]>, HsmError> {
    let mut bytes = Zeroizing::new([0; 32]);
    rand::fill(&mut *bytes).map_err(|_| HsmError::refused("no random bytes"))?;
    Ok(bytes)
}
