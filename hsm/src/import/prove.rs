//! Proves an imported key by one operation of its purpose.

use super::error::ImportError;
use crate::crypt::proof;
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{ErrorKind, HsmError, OaepMethod, Purpose};
use formats::algorithms::{Algorithm, OaepHash, PublicParts};

/// Proves a private key against its public half.
pub(super) fn private_key(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    purpose: Purpose,
) -> Result<(), ImportError> {
    match (purpose, public) {
        (Purpose::Envelope, PublicParts::Rsa { .. }) => {
            let support = session.connection().oaep();
            let lacks = |hash| support.of(hash) == OaepMethod::Unsupported;
            if OaepHash::ALL.into_iter().all(lacks) {
                return Err(ImportError::Unsupported("RSA-OAEP".to_owned()));
            }
        }
        (Purpose::Data | Purpose::Import, _) | (Purpose::Envelope, PublicParts::Ed25519 { .. }) => {
            return Err(ImportError::Malformed("such keys cannot serve this purpose"));
        }
        (Purpose::Envelope | Purpose::Sign, _) => {}
    }
    let proven = proof::is_private_half(session, key, public, purpose);
    judge(session, proven)
}

/// Proves that a secret key works.
pub(super) fn secret_key(
    session: &Session,
    key: ObjectHandle,
    algorithm: Algorithm,
) -> Result<(), ImportError> {
    let proven = proof::secret_works(session, key, algorithm);
    judge(session, proven)
}

/// Whether a failure concerns the token and not the input.
pub(super) fn concerns_token(error: &HsmError) -> bool {
    error.ends_session()
        || match error.kind() {
            ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late | ErrorKind::KeyMissing => true,
            ErrorKind::BadInput | ErrorKind::Unusable | ErrorKind::Refused => false,
        }
}

/// The result of a proof. Tokens differ in how they fail with a wrong key, so an error is a
/// mismatch unless the token is out or lacks the operation.
fn judge(session: &Session, proven: Result<bool, HsmError>) -> Result<(), ImportError> {
    match proven {
        Ok(true) => Ok(()),
        Ok(false) => Err(ImportError::Mismatch),
        Err(error) if error.lacks_ability() => {
            Err(ImportError::Unsupported("the operation of this key".to_owned()))
        }
        Err(error) if concerns_token(&error) => Err(error.into()),
        Err(error) => {
            tracing::debug!(?error, "an imported key failed its proof");
            if error.suggests_outage() {
                session.connection().canary.raise();
            }
            Err(ImportError::Mismatch)
        }
    }
}
