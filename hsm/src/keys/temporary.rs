//! Keys that are made to try something with, and go with it.

use cryptoki::mechanism::MechanismType;

use super::draft::{Draft, Made};
use super::{GenerateKey, KeyAlgorithm, PublicKey, Purpose, Usages, public};
use crate::HsmError;
use crate::canary::INTERNAL;
use crate::session::{Session, Temporary};

/// A key that is destroyed when it goes out of scope.
pub(crate) struct TemporaryKey<'a> {
    pub(crate) guarded: Temporary<'a>,
    pub(crate) public: Option<PublicKey>,
    _half: Option<Temporary<'a>>,
}

/// Makes a key that goes with the session, for trying what the token can do.
pub(crate) fn temporary(
    session: &Session,
    algorithm: KeyAlgorithm,
    purpose: Purpose,
) -> Result<TemporaryKey<'_>, HsmError> {
    make_temporary(session, algorithm, purpose, |draft| {
        draft.make_bound(session)
    })
}

/// The same with a bond to exactly these mechanisms.
pub(crate) fn temporary_bound<'a>(
    session: &'a Session,
    algorithm: KeyAlgorithm,
    purpose: Purpose,
    allowed: &[MechanismType],
) -> Result<TemporaryKey<'a>, HsmError> {
    make_temporary(session, algorithm, purpose, |draft| {
        draft.make(session, allowed)
    })
}

fn make_temporary(
    session: &Session,
    algorithm: KeyAlgorithm,
    purpose: Purpose,
    make: impl FnOnce(Draft<'_>) -> Result<Made, HsmError>,
) -> Result<TemporaryKey<'_>, HsmError> {
    let usages = Usages::needed(algorithm, purpose)?;
    let order = GenerateKey {
        id: b"temporary".to_vec(),
        label: format!("{INTERNAL} temporary"),
        algorithm,
        purpose,
    };
    let made = make(Draft {
        order: &order,
        usages,
        stays: false,
    })?;
    let guarded = session.temporary(made.guarded);
    let half = made.public.map(|half| session.temporary(half));
    let public = half
        .as_ref()
        .map(|half| public::of_object(session, half.handle()))
        .transpose()?;
    Ok(TemporaryKey {
        guarded,
        public,
        _half: half,
    })
}
