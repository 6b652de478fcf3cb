//! The OAEP trial: finds how a token decrypts RSA-OAEP with a small key that this crate keeps in
//! the token. The answer to a client's ciphertext cannot show it, because a token that lacks the
//! hash and a token that was sent a bad ciphertext may return the same code.

use cryptoki::object::{Attribute, ObjectClass};
use subtle::ConstantTimeEq;

use crate::crypt::{oaep, proof};
use crate::keys::{self, public};
use crate::pkcs11::ObjectHandle;
use crate::session::{ConnectError, Session};
use crate::{ErrorKind, HsmError, NewKey, OaepMethod, Purpose};
use formats::algorithms::{Algorithm, OaepHash, PublicParts};

const LABEL: &str = "sealward-internal trial";

/// Generates the key of the trial where the token does not hold it. A token that makes no RSA keys
/// has no trial.
pub(crate) fn ensure_key(session: &Session) -> Result<(), HsmError> {
    if find(session)?.is_some() {
        return Ok(());
    }
    let key = NewKey {
        id: LABEL.as_bytes().to_vec(),
        label: LABEL.to_owned(),
        algorithm: Algorithm::Rsa2048,
        purpose: Purpose::Envelope,
    };
    match keys::generate_internal(session, &key) {
        Err(error) if error.ends_session() || error.kind() == ErrorKind::TokenOut => Err(error),
        Err(error) => {
            tracing::warn!(
                token = session.connection().label(),
                ?error,
                "no RSA key for the OAEP trial: RSA-OAEP is not tested"
            );
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Tries each hash that the token has not yet done by itself.
pub(crate) fn run(session: &Session) -> Result<(), HsmError> {
    let connection = session.connection();
    let is_open = |hash: &OaepHash| connection.oaep().of(*hash) != OaepMethod::InToken;
    if !OaepHash::ALL.iter().any(is_open) {
        return Ok(());
    }
    let Some((key, public)) = find(session)? else {
        return Ok(());
    };
    for hash in OaepHash::ALL.into_iter().filter(is_open) {
        let method = try_methods(session, key, &public, hash)?;
        tracing::info!(token = connection.label(), %hash, ?method, "the OAEP trial has ended");
        connection.note_oaep(hash, method);
    }
    Ok(())
}

fn try_methods(
    session: &Session,
    key: ObjectHandle,
    public: &PublicParts,
    hash: OaepHash,
) -> Result<OaepMethod, HsmError> {
    let secret = proof::random()?;
    let wrapped = proof::encrypt(public, hash, &*secret)?;
    let works = |method| -> Result<bool, HsmError> {
        // On a separate session, because a refusal may leave the operation active.
        let other = Session::open(session.connection()).map_err(ConnectError::at_work)?;
        match oaep::decrypt_by(method, &other, key, hash, &wrapped) {
            Ok(opened) => Ok(bool::from(opened.as_slice().ct_eq(secret.as_slice()))),
            Err(error) => {
                tracing::debug!(?error, ?method, %hash, "the method failed in the OAEP trial");
                // The failure of a broken token shows nothing.
                session.prove().map(|()| false)
            }
        }
    };
    if works(OaepMethod::InToken)? {
        return Ok(OaepMethod::InToken);
    }
    if session.connection().limits.allow_raw_rsa && works(OaepMethod::RawRsa)? {
        return Ok(OaepMethod::RawRsa);
    }
    Ok(OaepMethod::Unsupported)
}

/// Finds the key. Several processes may have made one at the same time; any complete one will do.
fn find(session: &Session) -> Result<Option<(ObjectHandle, PublicParts)>, HsmError> {
    let keys = session.find(&[
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Token(true),
        // Without it, an object that somebody made without the PIN would decide about RSA-OAEP.
        Attribute::Private(true),
        Attribute::Label(LABEL.as_bytes().to_vec()),
    ])?;
    for key in keys {
        if let Some(public) = public::of_rsa(session, key)? {
            return Ok(Some((key, public)));
        }
    }
    Ok(None)
}
