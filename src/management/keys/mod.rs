//! Keys: their life as administrators lead it.

mod create;
mod destruction;
mod draft;
mod housekeeping;
mod import_parameters;
mod order;
mod update;

use uuid::Uuid;

use super::{
    Action, Change, Context, Error, Event, Expected, Missing, Page, PageRequest, Resource, Revision,
};
use crate::catalog::Topic;
use crate::ids::KeyId;
use crate::keys::{Cause, Key, NoTransition, NotMade, Status, Usage, store};

pub use self::create::create;
pub use self::destruction::{delete, destroy_due};
pub use self::draft::{KeyDraft, NewKeyDraft, TokenObjectDraft, WrappedKeyDraft};
pub use self::housekeeping::keep_house;
pub use self::import_parameters::{
    ImportParameters, ImportParametersDraft, create as create_import_parameters,
};
pub use self::update::update;
pub use crate::keys::store::Filter;

/// What the operator decided about keys.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long a deleted key can still be brought back.
    pub destruction_delay: std::time::Duration,
    /// Whether keys may be sent in plaintext.
    pub plaintext_import: bool,
}

impl Resource for Key {
    const TYPE: &'static str = "key";
    const TOPIC: Topic = Topic::Keys;

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}

/// The keys that `filter` lets through, in the order in which they were made.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    context: &Context,
    filter: Filter,
    page: PageRequest,
) -> Result<Page<Key>, Error> {
    let rows = store::list(&context.pool, filter, page.after(), page.rows()).await?;
    Ok(Page::of(page, rows, |key| key.id.uuid()))
}

/// One key, in whatever state.
///
/// # Errors
/// When there is none, or the database cannot be read.
pub async fn read(context: &Context, id: KeyId) -> Result<Key, Error> {
    store::by_id(&context.pool, id)
        .await?
        .ok_or(Error::Missing(Missing::Key))
}

async fn lock(change: &mut Change<'_>, id: KeyId, expected: &Expected) -> Result<Key, Error> {
    let key = store::lock(change.connection(), id)
        .await?
        .ok_or(Error::Missing(Missing::Key))?;
    expected.check(Resource::revision(&key))?;
    Ok(key)
}

/// Retires the key that makes way for `key`, which is about to be active. To be done first: the
/// database admits one at any time.
async fn make_way(change: &mut Change<'_>, key: &Key) -> Result<Option<Event>, Error> {
    if key.usage != Usage::Enc || key.status != Status::Active {
        return Ok(None);
    }
    let Some(former) = store::former(change.connection(), key).await? else {
        return Ok(None);
    };
    let retired = former.moved(Cause::Rotation, Status::Retired, change.now())?;
    store::update(change.connection(), &retired).await?;
    Ok(Some(Event::changed(Action::Update, &former, &retired)))
}

impl From<NoTransition> for Error {
    fn from(refusal: NoTransition) -> Self {
        Self::Conflict(refusal.to_string())
    }
}

impl From<NotMade> for Error {
    fn from(reason: NotMade) -> Self {
        match reason {
            NotMade::Problem(problem) => problem.into(),
            NotMade::Token(error) => error.into(),
            NotMade::Database(error) => error.into(),
        }
    }
}
