//! Proofs: one operation with a key in the token and its counterpart in this process with the
//! public key. They prove the abilities of a token and the identity of a key.

use aws_lc_rs::agreement::{self, PrivateKey};
use aws_lc_rs::rand;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
    UnparsedPublicKey, VerificationAlgorithm,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{ecdh, gcm, kem, oaep, sign};
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{HsmError, OaepMethod, Purpose};
use formats::algorithms::{
    Algorithm, Curve, Family, MlDsa, MlKem, OaepHash, PublicParts, SignatureScheme,
};

const MESSAGE: &[u8] = b"proof of possession of a private key";

/// Whether one key in the token is the private half of `public`, shown by an operation that its
/// purpose needs. False where such keys do not serve the purpose.
pub(crate) fn is_private_half(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    purpose: Purpose,
) -> Result<bool, HsmError> {
    match (purpose, public) {
        (Purpose::Envelope, PublicParts::Rsa { .. }) => {
            let support = session.connection().oaep();
            let supported = |hash: &OaepHash| support.of(*hash) != OaepMethod::Unsupported;
            let hash = OaepHash::ALL.into_iter().find(supported);
            decrypts(session, key, public, hash.unwrap_or(OaepHash::Sha1))
        }
        (Purpose::Envelope, PublicParts::Ec { curve, point }) => {
            agrees(session, key, *curve, point)
        }
        (Purpose::Envelope, PublicParts::Kem { kem, key: public }) => {
            decapsulates(session, key, kem.ml_kem(), public)
        }
        (Purpose::Sign, PublicParts::Rsa { .. }) => {
            signs(session, key, public, SignatureScheme::RsaSha256).or_else(|error| {
                // A TPM has this padding only for keys that decrypt too.
                match error.lacks_ability() {
                    true => signs(session, key, public, SignatureScheme::RsaPssSha256),
                    false => Err(error),
                }
            })
        }
        (Purpose::Sign, _) => match public.signature_scheme() {
            Some(scheme) => signs(session, key, public, scheme),
            None => Ok(false),
        },
        (Purpose::Envelope | Purpose::Data | Purpose::Import, _) => Ok(false),
    }
}

/// Whether nothing contradicts that `public` is the public half of a key. No operation shows it for keys
/// that unwrap keys.
pub(crate) fn may_be_half(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    purpose: Purpose,
) -> Result<bool, HsmError> {
    match purpose {
        Purpose::Envelope | Purpose::Sign => is_private_half(session, key, public, purpose),
        Purpose::Data | Purpose::Import => Ok(true),
    }
}

/// Whether the token decrypts with OAEP a message for the public half.
pub(crate) fn decrypts(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    hash: OaepHash,
) -> Result<bool, HsmError> {
    let secret = random()?;
    let ciphertext = encrypt(public, hash, &*secret)?;
    let decrypted = oaep::decrypt(session, key, hash, &ciphertext)?;
    Ok(bool::from(decrypted.as_slice().ct_eq(secret.as_slice())))
}

/// Encrypts with OAEP under the public half.
pub(crate) fn encrypt(
    public: &PublicParts,
    hash: OaepHash,
    message: &[u8],
) -> Result<Vec<u8>, HsmError> {
    let public = rsa(public).ok_or_else(|| HsmError::bad_input("not an RSA key"))?;
    oaep::encrypt(public, hash, message)
        .ok_or_else(|| HsmError::bad_input("the RSA key does not encrypt"))
}

/// Whether the token and this process derive the same secret, each with the public half of the
/// other and a fresh pair in this process.
pub(crate) fn agrees(
    session: &Session,
    key: ObjectHandle,
    curve: Curve,
    point: &[u8],
) -> Result<bool, HsmError> {
    let algorithm = curve.agreement();
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

/// Whether the token decapsulates the secret that this process has encapsulated.
pub(crate) fn decapsulates(
    session: &Session,
    key: ObjectHandle,
    set: MlKem,
    public: &[u8],
) -> Result<bool, HsmError> {
    let (ciphertext, secret) = kem::encapsulate(set, public)?;
    let decapsulated = kem::decapsulate(session, key, set, &ciphertext)?;
    Ok(bool::from(decapsulated.as_slice().ct_eq(secret.as_ref())))
}

/// Whether the public half verifies a signature of the token.
pub(crate) fn signs(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    scheme: SignatureScheme,
) -> Result<bool, HsmError> {
    let signature = signature(session, key, scheme)?;
    Ok(match (public, verification(scheme)) {
        (PublicParts::Rsa { .. }, Verification::Rsa(algorithm)) => {
            rsa(public).is_some_and(|public| public.verify(algorithm, MESSAGE, &signature).is_ok())
        }
        (
            PublicParts::Ec { point, .. } | PublicParts::Ed25519 { point },
            Verification::Point(algorithm),
        ) => UnparsedPublicKey::new(algorithm, point).verify(MESSAGE, &signature).is_ok(),
        (PublicParts::MlDsa { set, key }, Verification::MlDsa(of)) => {
            *set == of
                && UnparsedPublicKey::new(of.verification(), key)
                    .verify(MESSAGE, &signature)
                    .is_ok()
        }
        (
            PublicParts::Rsa { .. }
            | PublicParts::Ec { .. }
            | PublicParts::Ed25519 { .. }
            | PublicParts::MlDsa { .. }
            | PublicParts::Kem { .. },
            Verification::Rsa(_)
            | Verification::Point(_)
            | Verification::MlDsa(_)
            | Verification::None,
        ) => false,
    })
}

/// Whether the token signs a digest that this process has made. True for schemes that sign messages.
pub(crate) fn signs_digests(session: &Session, key: ObjectHandle, scheme: SignatureScheme) -> bool {
    scheme.digest_len().is_none_or(|length| {
        let prepared = sign::prepare_digest(scheme, &vec![7; length]);
        prepared.and_then(|prepared| sign::sign(session, key, &prepared)).is_ok()
    })
}

/// Whether a secret key works for the operation of its kind.
pub(crate) fn secret_works(
    session: &Session,
    key: ObjectHandle,
    algorithm: Algorithm,
) -> Result<bool, HsmError> {
    match algorithm.family() {
        Family::Hmac => repeats_mac(session, key),
        Family::Aes => decrypts_own_ciphertext(session, key),
        Family::Rsa
        | Family::Ec
        | Family::Ed25519
        | Family::MlDsa
        | Family::MlKem768
        | Family::MlKem1024
        | Family::P256MlKem768 => Ok(false),
    }
}

/// Whether an AES key decrypts in the token its own ciphertext.
pub(crate) fn decrypts_own_ciphertext(
    session: &Session,
    key: ObjectHandle,
) -> Result<bool, HsmError> {
    let secret = random()?;
    let sealed = gcm::encrypt(session, key, MESSAGE, &*secret)?;
    let ciphertext = [sealed.ciphertext, sealed.tag.to_vec()].concat();
    let opened = gcm::decrypt(session, key, sealed.iv, MESSAGE, &ciphertext)?;
    Ok(bool::from(opened.as_slice().ct_eq(secret.as_slice())))
}

/// Whether an HMAC key returns the same value twice.
pub(crate) fn repeats_mac(session: &Session, key: ObjectHandle) -> Result<bool, HsmError> {
    let first = signature(session, key, SignatureScheme::HmacSha256)?;
    let again = signature(session, key, SignatureScheme::HmacSha256)?;
    Ok(bool::from(first.ct_eq(&again)))
}

fn signature(
    session: &Session,
    key: ObjectHandle,
    scheme: SignatureScheme,
) -> Result<Vec<u8>, HsmError> {
    sign::sign(session, key, &sign::prepare(scheme, MESSAGE))
}

/// The verification algorithm in this process.
enum Verification {
    Rsa(&'static RsaParameters),
    Point(&'static dyn VerificationAlgorithm),
    MlDsa(MlDsa),
    /// A MAC has no public half.
    None,
}

fn verification(scheme: SignatureScheme) -> Verification {
    use SignatureScheme as S;
    match scheme {
        S::RsaSha256 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        S::RsaSha384 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        S::RsaSha512 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        S::RsaPssSha256 => Verification::Rsa(&RSA_PSS_2048_8192_SHA256),
        S::RsaPssSha384 => Verification::Rsa(&RSA_PSS_2048_8192_SHA384),
        S::RsaPssSha512 => Verification::Rsa(&RSA_PSS_2048_8192_SHA512),
        S::EcdsaSha256 => Verification::Point(&ECDSA_P256_SHA256_FIXED),
        S::EcdsaSha384 => Verification::Point(&ECDSA_P384_SHA384_FIXED),
        S::EcdsaSha512 => Verification::Point(&ECDSA_P521_SHA512_FIXED),
        S::Ed25519 => Verification::Point(&ED25519),
        S::MlDsa44 => Verification::MlDsa(MlDsa::MlDsa44),
        S::MlDsa65 => Verification::MlDsa(MlDsa::MlDsa65),
        S::MlDsa87 => Verification::MlDsa(MlDsa::MlDsa87),
        S::HmacSha256 => Verification::None,
    }
}

fn rsa(public: &PublicParts) -> Option<PublicKeyComponents<&[u8]>> {
    match public {
        PublicParts::Rsa { modulus, exponent } => {
            Some(PublicKeyComponents { n: modulus, e: exponent })
        }
        PublicParts::Ec { .. }
        | PublicParts::Ed25519 { .. }
        | PublicParts::MlDsa { .. }
        | PublicParts::Kem { .. } => None,
    }
}

/// A fresh secret.
pub(crate) fn random() -> Result<Zeroizing<[u8; 32]>, HsmError> {
    let mut bytes = Zeroizing::new([0; 32]);
    rand::fill(&mut *bytes).map_err(|_| HsmError::refused("no random bytes"))?;
    Ok(bytes)
}
