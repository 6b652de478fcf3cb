//! Keys that are generated for a test and destroyed with it. They are made as the service makes its keys, in
//! the token: some tokens make only such keys, and others only keys that end with the session.

use super::draft::Draft;
use super::public;
use crate::crypt::proof;
use crate::key::INTERNAL;
use crate::session::{Session, Temporary};
use crate::{HsmError, NewKey, Purpose};
use formats::algorithms::{Algorithm, PublicParts};

/// A key that is destroyed when it goes out of scope.
pub(crate) struct TemporaryKey<'a> {
    pub(crate) guarded: Temporary<'a>,
    pub(crate) public: Option<PublicParts>,
    _public_object: Option<Temporary<'a>>,
}

/// Generates a temporary key.
pub(crate) fn temporary(
    session: &Session,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Result<TemporaryKey<'_>, HsmError> {
    let key = description(algorithm, purpose)?;
    let objects = Draft::new(&key, true)?.generate_bound(session, &[])?;
    let guarded = Temporary::new(session, objects.guarded);
    let half = objects.public.map(|half| Temporary::new(session, half));
    let public = half.as_ref().map(|half| public::of_object(session, half.handle())).transpose()?;
    Ok(TemporaryKey { guarded, public, _public_object: half })
}

/// The description of a temporary key, with an id of its own.
pub(crate) fn description(algorithm: Algorithm, purpose: Purpose) -> Result<NewKey, HsmError> {
    Ok(NewKey {
        id: proof::random()?.to_vec(),
        label: format!("{INTERNAL} temporary"),
        algorithm,
        purpose,
    })
}
