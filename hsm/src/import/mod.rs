//! Keys that were made elsewhere: how they come into the token and are proven before they stay.

mod error;
mod material;
mod order;
mod prove;
mod sample;
mod settle;
pub(crate) mod unwrap;

use cryptoki::object::{Attribute, ObjectHandle};

use crate::canary::INTERNAL;
use crate::keys::template::{ED25519_NAME, ED25519_OID};
use crate::session::Session;
use crate::{HsmError, KeyAlgorithm, Purpose, keys};

pub use error::ImportError;
pub use order::{ImportKey, ImportMechanism, ImportWrapped, Imported, KeyMaterial, RsaMaterial};

use sample::Sample;
use settle::{Plan, settle, try_out};
use unwrap::Unwrapper;

/// What became of an import: errors that speak of the order are no errors of the token's.
pub(crate) type Outcome<T> = Result<Result<T, ImportError>, HsmError>;

/// Puts key material into the token. `begun` is whether a former attempt may have left something.
pub(crate) fn create(session: &Session, order: &ImportKey, begun: &mut bool) -> Outcome<Imported> {
    told_apart(with_material(order, |plan, edwards| {
        settle(session, plan, begun, |template| {
            create_object(session, order, edwards, template)
        })
    }))
}

/// Whether the token takes material of this kind, tried with a session object.
pub(crate) fn takes(session: &Session, algorithm: KeyAlgorithm, purpose: Purpose) -> Outcome<()> {
    let order = ImportKey {
        id: b"temporary".to_vec(),
        label: format!("{INTERNAL} temporary"),
        algorithm,
        purpose,
        material: Sample::of(algorithm)?.material,
    };
    told_apart(with_material(&order, |plan, edwards| {
        try_out(session, plan, |template| {
            create_object(session, &order, edwards, template)
        })
        .map(|_| ())
    }))
}

/// Does something with material that fits, under the first name of Ed25519's curve that works:
/// some tokens take any name and only fail when the key is used.
fn with_material<T>(
    order: &ImportKey,
    mut attempt: impl FnMut(&Plan<'_>, &[u8]) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    order.material.fits(order.algorithm)?;
    let public = order.material.public(order.algorithm);
    let plan = Plan::new(
        &order.id,
        &order.label,
        order.algorithm,
        order.purpose,
        public.as_ref(),
    )?;
    match attempt(&plan, ED25519_OID) {
        Err(_) if order.algorithm == KeyAlgorithm::Ed25519 => attempt(&plan, ED25519_NAME),
        outcome => outcome,
    }
}

fn create_object(
    session: &Session,
    order: &ImportKey,
    edwards: &[u8],
    template: &[Attribute],
) -> Result<ObjectHandle, ImportError> {
    let material = order.material.attributes(order.algorithm, edwards);
    let attributes = material.behind(template);
    Ok(session.create(attributes.as_slice())?)
}

/// Unwraps a key inside the token.
pub(crate) fn unwrap(
    session: &Session,
    order: &ImportWrapped,
    begun: &mut bool,
) -> Outcome<Imported> {
    let mut attempt = || {
        let plan = Plan::new(
            &order.id,
            &order.label,
            order.algorithm,
            order.purpose,
            order.public.as_ref(),
        )?;
        let import_key = session.look_up(&order.import_key)?;
        let unwrapper = Unwrapper::find(session, import_key, order.mechanism)?;
        tracing::debug!(way = ?unwrapper.way(), "the token unwraps by");
        settle(session, &plan, begun, |template| {
            unwrapper.unwrap(order.algorithm, &order.wrapped, template)
        })
    };
    told_apart(attempt())
}

/// By which mechanisms this token unwraps, tried with a temporary key.
pub(crate) fn mechanisms(session: &Session) -> Result<Vec<ImportMechanism>, HsmError> {
    let key = keys::temporary(session, KeyAlgorithm::Rsa2048, Purpose::Import)?;
    let mut works = Vec::new();
    for mechanism in ImportMechanism::ALL {
        match told_apart(Unwrapper::find(session, key.guarded.handle(), mechanism))? {
            Ok(_) => works.push(mechanism),
            Err(lack) => tracing::debug!(%lack, "an import mechanism is missing"),
        }
    }
    Ok(works)
}

/// Tells what speaks of the order from what speaks of the token.
pub(crate) fn told_apart<T>(outcome: Result<T, ImportError>) -> Outcome<T> {
    match outcome {
        Err(ImportError::Token(error)) => Err(error),
        outcome => Ok(outcome),
    }
}
