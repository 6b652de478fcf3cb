//! Destroying a key, after a delay.

use super::rules::KeyRules;
use super::{lock, store};
use crate::db::later_present;
use crate::ids::KeyId;
use crate::keys::{Cause, Key, KeyStatus, Vault};
use crate::management::changes::StoredRequest;
use crate::management::{
    Action, Authorized, Error, Event, Expected, ManageKeys, ResourceType, System,
};

/// Deletes a key. It stops working at once and is destroyed after the delay. Deleting it again changes
/// nothing.
pub async fn delete(
    context: &Authorized<ManageKeys>,
    rules: KeyRules,
    id: KeyId,
    expected: &Expected,
) -> Result<Key, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == KeyStatus::PendingDestruction {
        return Ok(before);
    }
    change.propose_as(StoredRequest::delete(ResourceType::Key));
    let now = change.now();
    let mut after = before.moved(Cause::Deletion, KeyStatus::PendingDestruction, now)?;
    let begins = later_present(change.connection(), now).await?;
    after.destroy_at = Some(begins.plus(rules.destruction_delay));
    store::update(change.rows(), &after).await?;
    change.commit(Event::changed(Action::Delete, &before, &after)).await?;
    Ok(after)
}

/// Destroys the keys whose delay is over, each in a separate transaction, and returns their number.
/// Several instances can do this at once: each key is locked while it is destroyed.
///
/// The beginning is committed before the token is asked, so that no failure after it makes the key
/// restorable. After a crash between the token and the record, the next run finds no object in the token
/// and completes the record. A key that a token does not destroy now waits for the next run, such as a
/// key on a token that is out.
pub async fn destroy_due(system: &System, vault: &Vault) -> Result<usize, Error> {
    let context: Authorized<ManageKeys> = system.authorize();
    let mut destroyed = 0;
    let mut left = Vec::new();
    store::begin_destruction(&context.pool, context.clock.now()).await?;
    loop {
        let mut change = context.begin().await?;
        let now = change.now();
        let Some(before) = store::lock_destroying(change.rows(), &left).await? else {
            return Ok(destroyed);
        };
        if let Err(error) = vault.destroy_recorded(&before).await {
            tracing::warn!(key = %before.id, ?error, "the token did not destroy a key that is due");
            left.push(before.id);
            continue;
        }
        let after = before.moved(Cause::Delay, KeyStatus::Destroyed, now)?;
        store::update(change.rows(), &after).await?;
        change.commit(Event::changed(Action::Destroy, &before, &after)).await?;
        destroyed += 1;
    }
}
