//! How a token opens RSA-OAEP, found by having it open something with a small key of our own,
//! which is kept in the token. An answer to a client's ciphertext could not tell: a token that
//! lacks the hash and one that was sent rubbish may say the same.

use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use subtle::ConstantTimeEq;

use crate::crypt::oaep;
use crate::keys::{self, public};
use crate::login::ConnectError;
use crate::proof;
use crate::session::Session;
use crate::{
    ErrorKind, GenerateKey, HsmError, KeyAlgorithm, OaepHash, OaepWay, PublicKey, Purpose,
};

const LABEL: &str = "sealward-internal trial";

/// Makes the key of the trial where the token does not have it yet. A token that makes no RSA
/// keys does without.
pub(crate) fn settle(session: &Session) -> Result<(), HsmError> {
    if find(session)?.is_some() {
        return Ok(());
    }
    let order = GenerateKey {
        id: LABEL.as_bytes().to_vec(),
        label: LABEL.to_owned(),
        algorithm: KeyAlgorithm::Rsa2048,
        purpose: Purpose::Envelope,
    };
    // Once more, because tokens fail now and then while they write.
    let made = keys::own(session, &order).or_else(|_| keys::own(session, &order));
    match made {
        Err(error) if error.condemns_the_session() || error.kind() == ErrorKind::TokenOut => {
            Err(error)
        }
        Err(error) => {
            tracing::warn!(
                token = session.device().label(),
                ?error,
                "no RSA key to try OAEP with: whether envelopes open shows when they come"
            );
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Tries each hash. What the token has once done by itself is not tried again.
pub(crate) fn hold(session: &Session) -> Result<(), HsmError> {
    let shown = &session.device().oaep;
    let open = |hash: &OaepHash| shown.way(*hash) != OaepWay::InToken;
    if !OaepHash::ALL.iter().any(open) {
        return Ok(());
    }
    let Some((key, public)) = find(session)? else {
        return Ok(());
    };
    for hash in OaepHash::ALL.into_iter().filter(open) {
        let way = try_out(session, key, &public, hash)?;
        tracing::info!(
            token = session.device().label(),
            ?hash,
            ?way,
            "RSA-OAEP was tried"
        );
        shown.note(hash, way);
    }
    Ok(())
}

fn try_out(
    session: &Session,
    key: ObjectHandle,
    public: &PublicKey,
    hash: OaepHash,
) -> Result<OaepWay, HsmError> {
    let secret = proof::random()?;
    let wrapped = proof::encrypt(public, hash, &*secret)?;
    let opens = |way| -> Result<bool, HsmError> {
        // On a session of its own, which a refusal may leave in the middle of the operation.
        let other = session.device().connect().map_err(ConnectError::at_work)?;
        match oaep::decrypt_by(way, &other, key, hash, &wrapped) {
            Ok(opened) => Ok(bool::from(opened.as_slice().ct_eq(secret.as_slice()))),
            Err(error) => {
                tracing::debug!(?error, ?way, ?hash, "not how this token opens RSA-OAEP");
                // A token that is not well has shown nothing.
                session.prove().map(|()| false)
            }
        }
    };
    if opens(OaepWay::InToken)? {
        return Ok(OaepWay::InToken);
    }
    let may_be_raw = session.device().bounds.allow_raw_rsa;
    if may_be_raw && opens(OaepWay::RawRsa)? {
        return Ok(OaepWay::RawRsa);
    }
    Ok(OaepWay::Lacking)
}

/// Several processes may have made the key at the same time; any whole one will do.
fn find(session: &Session) -> Result<Option<(ObjectHandle, PublicKey)>, HsmError> {
    let keys = session.find(&[
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Token(true),
        Attribute::Label(LABEL.as_bytes().to_vec()),
    ])?;
    for key in keys {
        if let Some(public) = public::of_rsa(session, key)? {
            return Ok(Some((key, public)));
        }
    }
    Ok(None)
}
