//! Changing a key: its name, its expiry, its status.

use super::{KeyDraft, lock, make_way, store};
use crate::ids::KeyId;
use crate::keys::{Cause, Key, Status};
use crate::management::{Action, Context, Error, Event, Expected, Proposal, check};

/// Changes a key. One that becomes active takes the place of the active one in the same
/// transaction.
///
/// # Errors
/// When there is none or it is not as expected, when the proposal is wrong or asks for a status
/// that cannot be reached, or when the database does not take it.
pub async fn update(
    context: &Context,
    id: KeyId,
    expected: &Expected,
    mut proposal: Proposal<KeyDraft>,
) -> Result<Key, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    proposal.check_read_only(&before);
    let (mut problems, draft) = (proposal.problems, proposal.draft);
    let found = &mut problems;
    let mut after = before.clone();
    let mut status = before.status;
    check::set(found, &mut after.name, draft.name, check::name);
    check::choose(
        found,
        &mut status,
        "status",
        draft.status,
        &Status::ALL.map(Status::name),
    );
    check::set(
        found,
        &mut after.expires_at,
        draft.expires_at,
        |found, text| {
            check::or_null(text, |text| {
                check::expiry(found, change.now(), before.expires_at, &text)
            })
        },
    );
    if !problems.is_empty() {
        return Err(problems.into());
    }
    after = if status != before.status {
        after.moved(Cause::Set, status, change.now())?
    } else if after != before {
        after.changed(change.now())
    } else {
        return Ok(before);
    };
    let retired = if status == before.status {
        None
    } else {
        make_way(&mut change, &after).await?
    };
    store::update(change.connection(), &after).await?;
    let updated = Event::changed(Action::Update, &before, &after);
    change
        .commit_all(retired.into_iter().chain([updated]))
        .await?;
    Ok(after)
}
