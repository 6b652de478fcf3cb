//! The key that a service signs or encrypts with unless a request names another one.

use sqlx::PgConnection;

use super::{Key, Usage, store};
use crate::resource::Rows;
use formats::clock::Timestamp;
use formats::material::{Algorithm, Family};

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
    pub(crate) async fn has_substitute(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        let rivals = self.rivals(rows).await?;
        let outlives = |rival: &Key| match (rival.expires_at, self.key.expires_at) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(rival), Some(own)) => rival >= own,
        };
        let is_earlier = rivals.iter().any(|rival| !self.is_before(rival));
        Ok(is_earlier && !rivals.iter().any(|rival| self.is_before(rival) && outlives(rival)))
    }

    /// Whether another key is the default now.
    pub(crate) async fn is_replaced(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<bool> {
        Ok(self.rivals(rows).await?.iter().any(|rival| self.is_before(rival)))
    }

    /// Whether it was activated before another key.
    fn is_before(&self, rival: &Key) -> bool {
        (self.key.activated_at, self.key.id.uuid()) < (rival.activated_at, rival.id.uuid())
    }

    /// The latest activation decides among the keys that fit an operation.
    async fn rivals(&self, rows: Rows<&mut PgConnection>) -> sqlx::Result<Vec<Key>> {
        const RSA: [Algorithm; 3] = [Algorithm::Rsa2048, Algorithm::Rsa3072, Algorithm::Rsa4096];
        let own = [self.key.algorithm];
        let is_rsa = self.key.algorithm.family() == Family::Rsa;
        let algorithms = if is_rsa { &RSA[..] } else { &own };
        store::rivals(rows, &self.key, algorithms, self.now).await
    }
}
