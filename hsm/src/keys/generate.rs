//! Making keys in a token.

use cryptoki::object::{Attribute, ObjectHandle};

use super::draft::{Draft, Made};
use super::inspect::Facts;
use super::{GenerateKey, Generated, KeyClass, KeyKind, KeyRef, Usages};
use super::{inspect, public};
use crate::HsmError;
use crate::handles::Known;
use crate::session::Session;

/// Makes the key that was ordered. `begun` is whether a former attempt may have left something.
pub(crate) fn generate(
    session: &Session,
    order: &GenerateKey,
    begun: &mut bool,
) -> Result<Generated, HsmError> {
    let usages = Usages::needed(order.algorithm, order.purpose)?;
    if order.id.is_empty() {
        return Err(HsmError::refused(
            "a key without an id would not be found again",
        ));
    }
    if !*begun && !same_id(session, &order.id)?.is_empty() {
        return Err(HsmError::refused(
            "the token holds an object of this id already",
        ));
    }
    // Tokens fail now and then while they write, for no reason that a second try would share.
    // What the first try may have left is taken away first.
    let made = match attempt(session, order, usages, begun) {
        Err(error) if error.is_ambiguous() => attempt(session, order, usages, begun),
        result => result,
    }?;
    finish(session, order, usages, &made).inspect_err(|_| {
        for object in made.objects() {
            if let Err(error) = session.raw().destroy_object(object) {
                tracing::error!(?error, id = ?order.id, "a key that was refused stays in the token");
            }
        }
    })
}

/// Makes a key of our own that stays, bound to no mechanism, and asks no more of it.
pub(crate) fn own(session: &Session, order: &GenerateKey) -> Result<(), HsmError> {
    let draft = Draft {
        order,
        usages: Usages::needed(order.algorithm, order.purpose)?,
        stays: true,
    };
    draft.make(session, &[]).map(|_| ())
}

fn attempt(
    session: &Session,
    order: &GenerateKey,
    usages: Usages,
    begun: &mut bool,
) -> Result<Made, HsmError> {
    if *begun {
        for object in same_id(session, &order.id)? {
            session.raw().destroy_object(object)?;
        }
    }
    *begun = true;
    let draft = Draft {
        order,
        usages,
        stays: true,
    };
    draft.make_bound(session)
}

/// Reads back what was made, and refuses what is weaker than was ordered.
fn finish(
    session: &Session,
    order: &GenerateKey,
    usages: Usages,
    made: &Made,
) -> Result<Generated, HsmError> {
    let facts = inspect::facts(session, made.guarded)?;
    refuse_weaker(&facts, order, usages)?;
    let public = made
        .public
        .map(|half| public::of_object(session, half))
        .transpose()?;
    let class = order.algorithm.class();
    let key = match class {
        KeyClass::Private => KeyRef::private(order.id.clone()),
        KeyClass::Secret => KeyRef::secret(order.id.clone()),
    };
    let device = session.device();
    device.handles.forget(&key);
    device
        .handles
        .keep(session.generation(), &key, Known::Held(made.guarded));
    Ok(Generated {
        key,
        public,
        token: device.label().to_owned(),
    })
}

fn refuse_weaker(facts: &Facts, order: &GenerateKey, usages: Usages) -> Result<(), HsmError> {
    let refuse = |what: String| Err(HsmError::refused(format!("the token made a key {what}")));
    if let Some(weakness) = facts.weaknesses(usages).first() {
        return refuse(format!("weaker than ordered: {weakness}"));
    }
    if !facts.usages.covers(usages) {
        return refuse(format!("without the usages ordered: {:?}", facts.usages));
    }
    if facts.kind != KeyKind::Known(order.algorithm) {
        return refuse(format!("of another kind than ordered: {:?}", facts.kind));
    }
    Ok(())
}

/// Every object of this id, of whatever class.
pub(crate) fn same_id(session: &Session, id: &[u8]) -> Result<Vec<ObjectHandle>, HsmError> {
    let found = session.find(&[Attribute::Token(true), Attribute::Id(id.to_vec())])?;
    // Without a login private objects are not seen.
    session.check_login()?;
    Ok(found)
}
