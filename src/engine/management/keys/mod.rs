//! Keys: created, changed, deleted and destroyed.

mod create;
mod destruction;
mod import_parameters;
mod judge;
mod maintenance;
mod obtain;
mod plan;
mod request;
mod rotation;
mod rules;
mod update;
mod version;

use super::{
    Action, Authorized, Change, Error, Event, Expected, Page, PageRequest, ReadResources,
    ResourceType, policies,
};
use crate::ids::KeyId;
use crate::keys::{Cause, Key, KeyStatus, NoTransition, Usage, VaultError, store};
use crate::resource::Stored as _;

pub use self::create::{create, create_version};
pub use self::destruction::{delete, destroy_due};
pub use self::import_parameters::{
    ImportParameters, ImportParametersRequest, create as create_import_parameters,
};
pub use self::maintenance::maintain;
pub use self::request::{KeyRequest, TokenObjectRequest, WrappedKeyRequest};
pub use self::rotation::rotate_due;
pub use self::rules::KeyRules;
pub use self::update::update;
pub use crate::keys::KeyUpdate;
pub use crate::keys::store::KeyFilter;

/// The keys that match `filter`, in the order in which they were created.
pub async fn list(
    context: &Authorized<ReadResources>,
    filter: KeyFilter,
    page: PageRequest,
) -> Result<Page<Key>, Error> {
    let rows = store::list(context.pool.rows(), filter, page.after(), page.rows()).await?;
    Ok(Page::of(page, rows, |key| key.id.uuid()))
}

/// One key, in any state.
pub async fn read(context: &Authorized<ReadResources>, id: KeyId) -> Result<Key, Error> {
    store::by_id(context.pool.rows(), id).await?.ok_or(Error::Missing(ResourceType::Key))
}

/// The keys with a version that have the name of `key`, the highest version first, at most `limit`.
pub async fn versions(
    context: &Authorized<ReadResources>,
    key: &Key,
    limit: i64,
) -> Result<Vec<Key>, Error> {
    Ok(store::highest_versions(context.pool.rows(), key, limit).await?)
}

async fn lock(change: &mut Change<'_>, id: KeyId, expected: &Expected) -> Result<Key, Error> {
    let key = store::lock(change.rows(), id).await?.ok_or(Error::Missing(ResourceType::Key))?;
    expected.check(key.revision)?;
    Ok(key)
}

/// Notes the activation of `key` if it is active, and retires the active envelope key that it replaces. The
/// database admits one active key, so this happens before `key` is written.
async fn take_place(change: &mut Change<'_>, key: &mut Key) -> Result<Option<Event>, Error> {
    if key.status != KeyStatus::Active {
        return Ok(None);
    }
    key.activation = Some(store::activate(change.connection(), key).await?);
    if key.usage != Usage::Enc {
        return Ok(None);
    }
    let Some(former) = store::former(change.rows(), key).await? else {
        return Ok(None);
    };
    if former.has_private() && !key.has_private() {
        check_opened_elsewhere(change, key).await?;
    }
    if former.status != KeyStatus::Active {
        // An entry of `revisions` has disabled it, and its row still occupies the place of the active key.
        store::update(change.rows(), &former.rewritten()).await?;
        return Ok(None);
    }
    let retired = former.moved(Cause::Rotation, KeyStatus::Retired, change.now())?;
    store::update(change.rows(), &retired).await?;
    Ok(Some(Event::changed(Action::Update, &former, &retired)))
}

/// Refuses a public key in place of a private key that opens envelopes of a policy.
async fn check_opened_elsewhere(change: &mut Change<'_>, key: &Key) -> Result<(), Error> {
    let family = key.algorithm.family();
    let policy = policies::opened_with(change.connection(), key.service_id, family).await?;
    match policy {
        None => Ok(()),
        Some(number) => Err(Error::Conflict(format!(
            "the policy {number} opens envelopes with the private key of the service: create the \
             key with \"activate\": false, or set keyOwnership of the policy to \
             destination_managed first"
        ))),
    }
}

impl From<NoTransition> for Error {
    fn from(refusal: NoTransition) -> Self {
        Self::Conflict(refusal.to_string())
    }
}

impl From<VaultError> for Error {
    fn from(reason: VaultError) -> Self {
        match reason {
            VaultError::Problem(problem) => problem.into(),
            VaultError::Extractable => Self::NotAllowed(
                "the settings do not allow extractable keys: adopt a key that cannot leave its \
                 token, or set keys.allow_extractable",
            ),
            VaultError::Token(error) => error.into(),
            VaultError::Database(error) => error.into(),
        }
    }
}
