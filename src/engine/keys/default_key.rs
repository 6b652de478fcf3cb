//! The key that a service signs or encrypts with unless a request names another one.

use sqlx::PgConnection;

use super::{Key, Usage, store};
use crate::resource::Rows;
use formats::clock::Timestamp;

/// A key that a service may sign or encrypt with by default: among those that take over from each other, or
/// among the versions of its name.
#[derive(Clone, Debug)]
pub(crate) struct DefaultKey {
    key: Key,
    now: Timestamp,
}

/// The other keys of one of these orders that can be the default now.
struct Rivals {
    before: Vec<Key>,
    after: Vec<Key>,
}

impl DefaultKey {
    /// The key, unless it is an envelope key: of those, one is active.
    pub(crate) fn of(key: &Key, now: Timestamp) -> Option<Self> {
        (key.usage != Usage::Enc).then(|| Self { key: key.clone(), now })
    }

    /// Whether it is the default, or will be when the keys after it expire, and another key becomes the
    /// default without it.
    /// So it is while the row of one of them does not count.
    pub(crate) async fn has_substitute(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        let Some(orders) = self.orders(rows).await? else {
            return Ok(true);
        };
        let outlives = |rival: &Key| match (rival.expires_at, self.key.expires_at) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rival), Some(own)) => rival >= own,
        };
        let gives_way =
            |rivals: &Rivals| !rivals.before.is_empty() && !rivals.after.iter().any(outlives);
        Ok(orders.iter().any(gives_way))
    }

    /// Whether another key is the default now, or can be it because a row does not count.
    pub(crate) async fn is_replaced(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        let orders = self.orders(rows).await?;
        Ok(orders.is_none_or(|orders| orders.iter().any(|rivals| !rivals.after.is_empty())))
    }

    /// Its rivals by activation, and by version. None while the row of one does not count.
    async fn orders(&self, mut rows: Rows<&mut PgConnection>) -> sqlx::Result<Option<[Rivals; 2]>> {
        let (key, acts) = (&self.key, |rival: &Key| self.can_act(rival));
        let (activated, are_whole) = store::rivals(rows.again(), key, key.succession()).await?;
        let (versions, are_whole_too) = store::rivals(rows, key, key.versions()).await?;
        let activated = activated.into_iter().filter(acts);
        let versions = versions.into_iter().filter(acts);
        Ok((are_whole && are_whole_too).then(|| {
            [
                Rivals::of(activated.partition(|rival| rival.activation < key.activation)),
                Rivals::of(versions.partition(|rival| rival.version < key.version)),
            ]
        }))
    }

    fn can_act(&self, rival: &Key) -> bool {
        let is_expired = rival.expires_at.is_some_and(|end| end <= self.now);
        rival.private_half.token_name.is_some() && !is_expired
    }
}

impl Rivals {
    fn of((before, after): (Vec<Key>, Vec<Key>)) -> Self {
        Self { before, after }
    }
}
