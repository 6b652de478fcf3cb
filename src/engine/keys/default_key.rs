//! The key that a service signs or encrypts with unless a request names another one.

use sqlx::PgConnection;

use super::{Key, Usage, store};
use crate::resource::Rows;
use formats::clock::Timestamp;

/// A key that a service may sign or encrypt with by default.
#[derive(Clone, Debug)]
pub(crate) struct DefaultKey {
    key: Key,
    now: Timestamp,
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
        let Some(rivals) = self.rivals(rows).await? else {
            return Ok(true);
        };
        let outlives = |rival: &Key| match (rival.expires_at, self.key.expires_at) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rival), Some(own)) => rival >= own,
        };
        let is_earlier = rivals.iter().any(|rival| !self.is_before(rival));
        Ok(is_earlier && !rivals.iter().any(|rival| self.is_before(rival) && outlives(rival)))
    }

    /// Whether another key is the default now, or can be it because a row does not count.
    pub(crate) async fn is_replaced(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        let rivals = self.rivals(rows).await?;
        Ok(rivals.is_none_or(|rivals| rivals.iter().any(|rival| self.is_before(rival))))
    }

    /// Whether it was activated before another key.
    fn is_before(&self, rival: &Key) -> bool {
        self.key.activation < rival.activation
    }

    /// The other keys that can be the default now. None while the row of one does not count.
    async fn rivals(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<Option<Vec<Key>>> {
        let (rivals, are_whole) = store::rivals(rows, &self.key).await?;
        let acts = |rival: &Key| {
            let is_expired = rival.expires_at.is_some_and(|end| end <= self.now);
            rival.private_half.token_name.is_some() && !is_expired
        };
        Ok(are_whole.then(|| rivals.into_iter().filter(acts).collect()))
    }
}
