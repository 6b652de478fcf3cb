//! Importing keys: they are proven in the token before they stay.

#![deny(clippy::wildcard_enum_match_arm)]

mod error;
mod install;
mod material;
mod mechanisms;
mod prove;
mod request;
mod sample;
pub(crate) mod unwrap;
mod wrap;

use cryptoki::object::Attribute;

use crate::keys::attributes::{ED25519_NAME, ED25519_OID};
use crate::keys::{self, description};
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{HsmError, NewKey, Purpose};
use formats::algorithms::{Algorithm, ImportMechanism};
use install::{Plan, install};
use sample::Sample;
use unwrap::Unwrapper;

pub use error::ImportError;
pub use request::{ImportKey, ImportWrapped, Imported, KeyMaterial};
pub use wrap::{WrapError, wrap_for_import};

/// The result of an import. The inner error concerns the request, the outer one the token.
pub(crate) type Outcome<T> = Result<Result<T, ImportError>, HsmError>;

/// Puts key material into the token. `begun` is whether a former attempt may have left objects.
pub(crate) fn create(
    session: &Session,
    request: &ImportKey,
    begun: &mut bool,
) -> Outcome<Imported> {
    let installed = with_material(request, |plan, edwards| {
        install(session, plan, begun, |template| create_object(session, request, edwards, template))
    });
    separate(installed.map_err(|error| {
        if !error.failure().is_some_and(HsmError::lacks_ability) {
            return error;
        }
        tracing::info!(?error, "the token does not import such keys");
        ImportError::Unsupported(format!("import of {} keys", request.key.algorithm))
    }))
}

/// Whether the token imports material of this kind, tried with a key that is then destroyed.
pub(crate) fn is_supported(
    session: &Session,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Outcome<()> {
    let request = ImportKey {
        key: description(algorithm, purpose)?,
        material: Sample::of(algorithm)?.material,
    };
    try_out(session, &request.key, create(session, &request, &mut false)?)
}

/// Whether the token unwraps keys of this kind, tried with a key that is then destroyed.
pub(crate) fn unwraps(
    session: &Session,
    unwrapper: &Unwrapper<'_>,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Outcome<()> {
    let key = description(algorithm, purpose)?;
    let sample = Sample::of(algorithm)?;
    let public = sample.material.public(algorithm);
    let wrapped = unwrapper.wrap(&sample.bytes)?;
    let attempt = || {
        let plan = Plan::new(&key, public.as_ref())?;
        install(session, &plan, &mut false, |template| {
            unwrapper.unwrap(algorithm, &wrapped, template)
        })
    };
    try_out(session, &key, separate(attempt())?)
}

/// Destroys what a trial has made.
fn try_out(session: &Session, key: &NewKey, outcome: Result<Imported, ImportError>) -> Outcome<()> {
    session.connection().handles.forget(&key.key_ref());
    keys::destroy_same_id(session, &key.id, &[])?;
    Ok(outcome.map(|_| ()))
}

/// Attempts an import under both names of the Ed25519 curve: some tokens accept any name and fail
/// only when the key is used.
fn with_material<T>(
    request: &ImportKey,
    mut attempt: impl FnMut(&Plan<'_>, &[u8]) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    let algorithm = request.key.algorithm;
    if !request.material.fits(algorithm) {
        return Err(ImportError::Malformed("the material does not fit the algorithm"));
    }
    let public = request.material.public(algorithm);
    let plan = Plan::new(&request.key, public.as_ref())?;
    attempt(&plan, ED25519_OID).or_else(|first| match algorithm == Algorithm::Ed25519 {
        true => attempt(&plan, ED25519_NAME).map_err(|_| first),
        false => Err(first),
    })
}

fn create_object(
    session: &Session,
    request: &ImportKey,
    edwards: &[u8],
    template: &[Attribute],
) -> Result<ObjectHandle, ImportError> {
    let material = request.material.attributes(request.key.algorithm, edwards);
    Ok(session.create(material.behind(template).as_slice())?)
}

/// Unwraps a key inside the token.
pub(crate) fn unwrap(
    session: &Session,
    request: &ImportWrapped,
    begun: &mut bool,
) -> Outcome<Imported> {
    let mut attempt = || {
        let plan = Plan::new(&request.key, request.public.as_ref())?;
        let import_key = session.look_up(&request.import_key)?;
        let unwrapper = Unwrapper::find(session, import_key, request.mechanism)?;
        tracing::debug!(method = ?unwrapper.method(), "unwrapping a key");
        install(session, &plan, begun, |template| {
            unwrapper.unwrap(request.key.algorithm, &request.wrapped, template)
        })
    };
    separate(attempt())
}

/// The mechanisms by which this token unwraps, tried with a temporary key.
pub(crate) fn mechanisms(session: &Session) -> Result<Vec<ImportMechanism>, HsmError> {
    let key = match keys::temporary(session, Algorithm::Rsa2048, Purpose::Import) {
        Err(error) if error.lacks_ability() => return Ok(Vec::new()),
        Err(error) if error.may_reject_attribute() => {
            // A token that works otherwise makes no such keys.
            return session.prove().map(|()| Vec::new());
        }
        made => made?,
    };
    let mut supported = Vec::new();
    for mechanism in ImportMechanism::ALL {
        match separate(Unwrapper::find(session, key.guarded.handle(), mechanism))? {
            Ok(_) => supported.push(mechanism),
            Err(error) => tracing::debug!(%error, "an import mechanism is not supported"),
        }
    }
    Ok(supported)
}

/// Separates errors of the request from errors of the token.
pub(crate) fn separate<T>(outcome: Result<T, ImportError>) -> Outcome<T> {
    match outcome {
        Err(ImportError::Token(error)) => Err(error),
        outcome => Ok(outcome),
    }
}
