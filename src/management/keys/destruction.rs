//! The end of a key: asked for, waited for, done.

use super::{Rules, lock, store};
use crate::db::later_present;
use crate::ids::KeyId;
use crate::keys::{Cause, Key, Status, Vault};
use crate::management::{Action, Context, Error, Event, Expected};

/// Deletes a key: it does nothing from now on, and is destroyed when the delay has run out.
/// Deleting it again changes nothing.
///
/// # Errors
/// When there is none or it is not as expected, when it is destroyed, or when the database does
/// not take it.
pub async fn delete(
    context: &Context,
    rules: Rules,
    id: KeyId,
    expected: &Expected,
) -> Result<Key, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == Status::PendingDestruction {
        return Ok(before);
    }
    let now = change.now();
    let mut after = before.moved(Cause::Deletion, Status::PendingDestruction, now)?;
    let begins = later_present(change.connection(), now).await?;
    after.destroy_at = Some(begins.plus(rules.destruction_delay));
    store::update(change.connection(), &after).await?;
    change
        .commit(Event::changed(Action::Delete, &before, &after))
        .await?;
    Ok(after)
}

/// Destroys the keys whose delay has run out, each in a transaction of its own. Several instances
/// may do this at once: a key is locked by whoever destroys it. Gives how many are gone.
///
/// A crash after the token and before the record is made good by the next run, which finds the
/// token's object gone. A key that the token does not destroy now is left for the next run.
///
/// # Errors
/// When the database does not do it.
pub async fn destroy_due(context: &Context, vault: &Vault) -> Result<usize, Error> {
    let mut destroyed = 0;
    let mut left = Vec::new();
    loop {
        let mut change = context.begin().await?;
        let now = change.now();
        let Some(before) = store::lock_due(change.connection(), now, &left).await? else {
            return Ok(destroyed);
        };
        if let Some(key) = before.token_key()
            && let Err(error) = vault.destroy(&key).await
        {
            tracing::warn!(key = %before.id, ?error, "a key that is due is not destroyed yet");
            left.push(before.id);
            continue;
        }
        let after = before.moved(Cause::Delay, Status::Destroyed, now)?;
        store::update(change.connection(), &after).await?;
        change
            .commit(Event::changed(Action::Destroy, &before, &after))
            .await?;
        destroyed += 1;
    }
}
