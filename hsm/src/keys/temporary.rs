//! Keys that are generated for a test and destroyed with it.

use cryptoki::mechanism::MechanismType;

use super::draft::{Draft, Objects};
use super::public;
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
    generate(session, algorithm, purpose, |draft| draft.generate_bound(session))
}

/// Generates a temporary key that is bound to exactly these mechanisms.
pub(crate) fn temporary_bound<'a>(
    session: &'a Session,
    algorithm: Algorithm,
    purpose: Purpose,
    allowed: &[MechanismType],
) -> Result<TemporaryKey<'a>, HsmError> {
    generate(session, algorithm, purpose, |draft| draft.generate(session, allowed))
}

/// The description of a temporary key.
pub(crate) fn description(algorithm: Algorithm, purpose: Purpose) -> NewKey {
    NewKey { id: b"temporary".to_vec(), label: format!("{INTERNAL} temporary"), algorithm, purpose }
}

fn generate(
    session: &Session,
    algorithm: Algorithm,
    purpose: Purpose,
    generate: impl FnOnce(&Draft<'_>) -> Result<Objects, HsmError>,
) -> Result<TemporaryKey<'_>, HsmError> {
    let objects = generate(&Draft::new(&description(algorithm, purpose), false)?)?;
    let guarded = Temporary::new(session, objects.guarded);
    let half = objects.public.map(|half| Temporary::new(session, half));
    let public = half.as_ref().map(|half| public::of_object(session, half.handle())).transpose()?;
    Ok(TemporaryKey { guarded, public, _public_object: half })
}
