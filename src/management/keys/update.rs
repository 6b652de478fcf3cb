//! Changing a key.

use super::request::KeyUpdate;
use super::{lock, retire_former, store};
use crate::ids::KeyId;
use crate::keys::{Cause, Key};
use crate::management::check::{self, checked};
use crate::management::{Action, Context, Error, Event, Expected};
use crate::resource::ResourceRequest;

/// Changes a key. A key that becomes active retires the former one in the same transaction.
///
/// # Errors
/// When there is none or it is not in the expected state, when the request is wrong or names a status
/// that cannot be reached, or when the database refuses it.
pub async fn update(
    context: &Context,
    id: KeyId,
    expected: &Expected,
    mut request: ResourceRequest<KeyUpdate>,
) -> Result<Key, Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    let before = lock(&mut change, id, expected).await?;
    request.check_read_only(&before);
    let (mut problems, body) = (request.problems, request.body);
    let status = body.status.or_keep(&before.status);
    let mut after = before.clone();
    after.name = body.name.map(|name| name.to_string()).or_keep(&before.name);
    check::expiry(&mut problems, now, before.expires_at, &body.expires_at);
    after.expires_at = body.expires_at.or_keep(&before.expires_at);
    let after = checked(problems, Some(after))?;
    let (after, retired) = if status != before.status {
        let after = after.moved(Cause::Set, status, now)?;
        let retired = retire_former(&mut change, &after).await?;
        (after, retired)
    } else if after != before {
        (after.changed(now), None)
    } else {
        return Ok(before);
    };
    store::update(change.connection(), &after).await?;
    let updated = Event::changed(Action::Update, &before, &after);
    change
        .commit_all(retired.into_iter().chain([updated]))
        .await?;
    Ok(after)
}
