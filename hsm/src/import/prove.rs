//! Whether an imported key is the one that was meant: it is used, once, as it will be used.

use cryptoki::error::RvError;
use cryptoki::object::ObjectHandle;

use super::ImportError;
use crate::proof;
use crate::session::Session;
use crate::{
    Curve, ErrorKind, HsmError, KeyAlgorithm, OaepHash, OaepWay, PublicKey, Purpose,
    SignatureScheme,
};

/// Proves a private key against its public half.
pub(super) fn private_key(
    session: &Session,
    key: ObjectHandle,
    public: &PublicKey,
    purpose: Purpose,
) -> Result<(), ImportError> {
    let proven = match (purpose, public) {
        (Purpose::Envelope, PublicKey::Rsa { .. }) => {
            let ways = session.device().oaep.ways();
            let hash = OaepHash::ALL
                .into_iter()
                .find(|hash| ways.of(*hash) != OaepWay::Lacking)
                .ok_or_else(|| ImportError::Unsupported("RSA-OAEP".to_owned()))?;
            proof::decrypts(session, key, public, hash)
        }
        (Purpose::Envelope, PublicKey::Ec { curve, point }) => {
            proof::agrees(session, key, *curve, point)
        }
        (Purpose::Sign, _) => proof::signs(session, key, public, scheme(public)),
        (Purpose::Data | Purpose::Import, _) | (_, PublicKey::Ed25519 { .. }) => {
            return Err(ImportError::Malformed(
                "such keys cannot serve this purpose",
            ));
        }
    };
    verdict(session, proven)
}

/// Proves that a secret key works.
pub(super) fn secret_key(
    session: &Session,
    key: ObjectHandle,
    algorithm: KeyAlgorithm,
) -> Result<(), ImportError> {
    let proven = match algorithm {
        KeyAlgorithm::HmacSha256 => proof::macs_alike(session, key),
        _ => proof::opens_what_it_sealed(session, key),
    };
    verdict(session, proven)
}

/// Whether a failure is the token's and not the input's.
pub(super) fn speaks_of_the_token(error: &HsmError) -> bool {
    error.condemns_the_session()
        || match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late | ErrorKind::KeyMissing => true,
            ErrorKind::BadInput | ErrorKind::Refused => false,
        }
}

/// What a proof came to. A token answers a key that does not fit in its own ways, so an error in
/// the proof is a mismatch unless it says that the token is not well or lacks the operation.
fn verdict(session: &Session, proven: Result<bool, HsmError>) -> Result<(), ImportError> {
    match proven {
        Ok(true) => Ok(()),
        Ok(false) => Err(ImportError::Mismatch),
        Err(error) if lacks(&error) => Err(ImportError::Unsupported(
            "the operation this key is for".to_owned(),
        )),
        Err(error) if speaks_of_the_token(&error) => Err(error.into()),
        Err(error) => {
            tracing::debug!(?error, "an imported key failed its proof");
            if error.doubts_the_token() {
                session.device().ask_canary();
            }
            Err(ImportError::Mismatch)
        }
    }
}

/// Whether the token does not have the mechanism, or not with these parameters.
fn lacks(error: &HsmError) -> bool {
    matches!(
        error.code(),
        Some(
            RvError::MechanismInvalid
                | RvError::MechanismParamInvalid
                | RvError::FunctionNotSupported
        )
    )
}

/// A scheme that keys of this kind sign with.
fn scheme(public: &PublicKey) -> SignatureScheme {
    match public {
        PublicKey::Rsa { .. } => SignatureScheme::RsaPkcs1Sha256,
        PublicKey::Ec { curve, .. } => match curve {
            Curve::P256 => SignatureScheme::EcdsaSha256,
            Curve::P384 => SignatureScheme::EcdsaSha384,
            Curve::P521 => SignatureScheme::EcdsaSha512,
        },
        PublicKey::Ed25519 { .. } => SignatureScheme::Ed25519,
    }
}
