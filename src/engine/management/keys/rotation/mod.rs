//! Rotates keys: makes their successors, activates those, and retires the keys.
//!
//! Each step is a transaction of its own, and each run does the steps that are due. Whatever fails or
//! is interrupted is tried again by the next run. Until a successor is active, the key before it works.

mod store;

use std::time::Duration;

use super::create::record;
use super::{lock, take_place};
use crate::auth::FrozenServices;
use crate::ids::{KeyId, ServiceId};
use crate::keys::{
    Assignment, Cause, Key, KeyOrigin, KeyStatus, Made, Usage, Vault, store as keys_store,
};
use crate::management::{Action, Authorized, Change, Error, Event, Expected, ManageKeys, System};

/// How long the successor of a signing key is published before it signs.
const PUBLISHED_BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

/// Does the steps of all rotations that are due. Those of frozen services wait, and keys whose algorithm is
/// below the floor have no successors. Several instances can do this at once.
///
/// # Errors
/// When the database does not show what is due. The failure of one key is logged, and the others go on.
pub async fn rotate_due(system: &System, vault: &Vault, overlap: Duration) -> Result<(), Error> {
    let context = &system.authorize();
    let now = context.clock.now();
    let frozen = FrozenServices::read(&context.pool).await?;
    let due = |keys: Vec<(KeyId, ServiceId)>| {
        keys.into_iter().filter(|(_, service)| !frozen.contain(*service)).map(|(key, _)| key)
    };
    let refused = context.floor.refused_keys();
    for key in due(store::without_successor(&context.pool, now, &refused).await?) {
        if let Err(error) = make_successor(context, vault, key).await {
            tracing::warn!(%key, %error, "the successor of a key was not created");
        }
    }
    for key in due(store::ready(&context.pool, now, &refused).await?) {
        if let Err(error) = activate(context, vault, key, overlap).await {
            tracing::warn!(%key, %error, "the successor of a key is not active yet");
        }
    }
    for key in due(store::to_retire(&context.pool, now).await?) {
        if let Err(error) = retire(context, key).await {
            tracing::warn!(%key, %error, "a key with an active successor was not retired");
        }
    }
    let overdue = store::overdue(&context.pool, now, &refused).await?;
    vault.note_overdue(due(overdue).count());
    Ok(())
}

/// Notes the activation of `after`, which is `before` activated, and retires what it replaces: the active
/// envelope key of the family at once, and a predecessor of another use after `overlap`.
pub(super) async fn take_over(
    change: &mut Change<'_>,
    before: &Key,
    after: &mut Key,
    overlap: Duration,
) -> Result<Option<Event>, Error> {
    if let (Some(predecessor), KeyStatus::Active, Usage::Sig | Usage::Data) =
        (before.succeeds, after.status, after.usage)
    {
        let at = change.now().plus(overlap);
        store::retire_later(change.rows(), predecessor, at).await?;
    }
    take_place(change, after).await
}

async fn make_successor(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    id: KeyId,
) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    if !store::reserve(change.connection(), id).await? {
        return Ok(());
    }
    // Another instance may have made it before the reservation.
    let refused = context.floor.refused_keys();
    let still = store::without_successor(&mut *change.connection(), now, &refused).await?;
    if !still.iter().any(|(key, _)| *key == id) {
        return Ok(());
    }
    // What is due was found by columns that no seal covers until here.
    let Some(key) = keys_store::by_id(change.rows(), id).await?.filter(|key| {
        let lead = if key.usage == Usage::Sig { PUBLISHED_BEFORE } else { Duration::ZERO };
        key.takeover().is_some_and(|at| at.minus(lead) <= now)
    }) else {
        return Ok(());
    };
    context.floor.check(key.algorithm)?;
    let assignment =
        Assignment { service_id: key.service_id, usage: key.usage, change: None, attempt: None };
    let unrecorded = vault.generate(assignment, key.algorithm).await?;
    let made = Made {
        id: unrecorded.id,
        usage: key.usage,
        algorithm: key.algorithm,
        origin: KeyOrigin::Generated,
        private_half: Some(unrecorded.private_half()),
        public_key: unrecorded.public.clone(),
    };
    let mut successor = Key {
        rotation_days: key.rotation_days,
        succeeds: Some(id),
        ..Key::new(made, key.service_id, key.name, now)
    };
    let recorded = match vault.make_canary(&successor).await {
        Ok(canary) => {
            successor.canary = canary;
            record(&mut change, &mut successor, None, None).await
        }
        Err(error) => Err(error.into()),
    };
    match recorded {
        Ok(_) => change.commit(Event::created(&successor)).await,
        Err(error) => {
            drop(change);
            vault.discard(unrecorded).await;
            Err(error)
        }
    }
}

async fn activate(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    id: KeyId,
    overlap: Duration,
) -> Result<(), Error> {
    let Some(key) = keys_store::by_id(context.pool.rows(), id).await? else {
        return Ok(());
    };
    if let Some(half) = key.token_key()
        && !vault.is_on_every_token(&half).await?
    {
        let message = "a token does not hold the key: copy it to every token of the settings";
        return Err(Error::Conflict(message.to_owned()));
    }
    let mut change = context.begin().await?;
    let now = change.now();
    let before = lock(&mut change, id, &Expected::Any).await?;
    // Someone may have changed it or its predecessor in the meantime.
    let refused = context.floor.refused_keys();
    let ready = store::ready(&mut *change.connection(), now, &refused).await?;
    if !ready.iter().any(|(key, _)| *key == id) {
        return Ok(());
    }
    let predecessor = match before.succeeds {
        Some(predecessor) => keys_store::by_id(change.rows(), predecessor).await?,
        None => None,
    };
    if predecessor.and_then(|key| key.takeover()).is_none_or(|at| at > now) {
        return Ok(());
    }
    context.floor.check(before.algorithm)?;
    let mut after = before.moved(Cause::Set, KeyStatus::Active, now)?;
    let retired = take_over(&mut change, &before, &mut after, overlap).await?;
    keys_store::update(change.rows(), &after).await?;
    let activated = Event::changed(Action::Update, &before, &after);
    let events = retired.into_iter().chain([activated]);
    change.commit_all(events).await
}

async fn retire(context: &Authorized<ManageKeys>, id: KeyId) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    let before = lock(&mut change, id, &Expected::Any).await?;
    // Someone may have changed it or its successor in the meantime.
    let mut is_replaced = false;
    for other in store::replacing(&mut *change.connection(), id, now).await? {
        // A row that does not count replaces no key.
        is_replaced |= keys_store::by_id(change.rows(), other).await?.is_some();
    }
    if !is_replaced {
        return Ok(());
    }
    let after = before.moved(Cause::Rotation, KeyStatus::Retired, now)?;
    keys_store::update(change.rows(), &after).await?;
    let event = Event::changed(Action::Update, &before, &after);
    change.commit(event).await
}
