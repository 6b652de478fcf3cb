//! Changing a key.

use super::request::check_rotation;
use super::rotation::take_over;
use super::rules::KeyRules;
use super::{lock, store};
use crate::ids::KeyId;
use crate::keys::{Cause, Key, KeyOrigin, KeyStatus, KeyUpdate, Vault};
use crate::management::changes::StoredRequest;
use crate::management::check::{self, checked};
use crate::management::{Action, Authorized, Error, Event, Expected, ManageKeys, ResourceType};
use crate::resource::{Member, ResourceRequest, Touched as _};

/// Changes a key. A key that becomes active retires the former one in the same transaction, and a token
/// must hold its private or secret half. A deleted key can be restored until its delay is over.
///
/// # Errors
/// There is none or it is not in the expected state, the request is wrong or names a status that
/// cannot be reached, or the database refuses it.
pub async fn update(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    rules: KeyRules,
    id: KeyId,
    expected: &Expected,
    mut request: ResourceRequest<KeyUpdate>,
) -> Result<Key, Error> {
    if let Some(status) = request.body.status.given() {
        check_token_holds(context, vault, id, *status).await?;
    }
    let mut change = context.begin().await?;
    let now = change.now();
    let before = lock(&mut change, id, expected).await?;
    change.propose_as(StoredRequest::update(ResourceType::Key, &request));
    request.check_read_only(&before);
    let (mut problems, body) = (request.problems, request.body);
    let status = body.status.or_keep(&before.status);
    check::expiry(&mut problems, now, before.expires_at, &body.expires_at);
    let body = KeyUpdate { status: Member::Absent, ..body };
    let after = body.update(&before, &mut problems);
    let is_generated = before.origin == KeyOrigin::Generated;
    check_rotation(&mut problems, is_generated, after.rotation_days);
    let after = checked(problems, Some(after))?;
    if after.name != before.name && before.version.is_some() {
        let message = "the key is a version of its name: the name cannot change";
        return Err(Error::Conflict(message.to_owned()));
    }
    let (after, retired) = if status != before.status {
        if status == KeyStatus::Active {
            context.floor.check(before.algorithm)?;
        }
        let mut after = after.moved(Cause::Set, status, now)?;
        if before.status == KeyStatus::PendingDestruction
            && store::is_past_restoring(change.connection(), id).await?
        {
            let message = "the destruction of the key has begun: it cannot be restored";
            return Err(Error::Conflict(message.to_owned()));
        }
        let retired = take_over(&mut change, &before, &mut after, rules.rotation_overlap).await?;
        (after, retired)
    } else if after != before {
        (after.touched(now), None)
    } else {
        return Ok(before);
    };
    store::update(change.rows(), &after).await?;
    let updated = Event::changed(Action::Update, &before, &after);
    change.commit_all(retired.into_iter().chain([updated])).await?;
    Ok(after)
}

/// Checks that a token holds the half that a key needs to become active, or that a deleted key needs to
/// be restored: a failover of Postgres can lose the record of a destruction. A deleted key can be restored
/// while its token is out. The token is asked before the transaction begins, so that a slow token holds no
/// lock.
async fn check_token_holds(
    context: &Authorized<ManageKeys>,
    vault: &Vault,
    id: KeyId,
    status: KeyStatus,
) -> Result<(), Error> {
    let Some(key) = store::by_id(context.pool.rows(), id).await? else {
        return Ok(());
    };
    let is_restored = key.status == KeyStatus::PendingDestruction && status != key.status;
    let is_activated = key.status != KeyStatus::Active && status == KeyStatus::Active;
    let Some(half) = key.token_key().filter(|_| is_restored || is_activated) else {
        return Ok(());
    };
    match vault.holds(&half).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            let use_of_it = if is_activated { "become active" } else { "be restored" };
            let message = format!("no token holds the key: it cannot {use_of_it}");
            Err(Error::Conflict(message))
        }
        Err(_) if !is_activated => Ok(()),
        Err(error) => Err(error.into()),
    }
}
