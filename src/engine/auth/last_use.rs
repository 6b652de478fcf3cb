//! The last use of credentials, written in batches.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::identity::Noted;
use super::store;
use crate::db::Pool;
use crate::ids::CredentialId;
use crate::jobs::Pulse;
use formats::clock::Timestamp;

/// The maximum delay of a credential's `lastUsedAt`.
const PERIOD: Duration = Duration::from_secs(5);

/// The minimum interval between two notes of one credential.
const RESOLUTION: Duration = Duration::from_secs(1);

/// Uses that are not written yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct LastUse(Arc<Mutex<HashMap<CredentialId, Timestamp>>>);

impl LastUse {
    pub(super) fn note(&self, id: CredentialId, noted: &Noted, now: Timestamp) {
        let before = noted.0.load(Ordering::Relaxed);
        let millis = i64::try_from(RESOLUTION.as_millis()).unwrap_or(i64::MAX);
        if now.as_millis() < before.saturating_add(millis) {
            return;
        }
        noted.0.store(now.as_millis(), Ordering::Relaxed);
        self.keep([(id, now)]);
    }

    /// Writes the uses until it is dropped.
    pub async fn keep_written(self, pool: Pool, pulse: Pulse) -> Infallible {
        let mut period = tokio::time::interval(PERIOD);
        loop {
            period.tick().await;
            let written = self.flush(&pool).await;
            pulse.ended(&written);
            // They are kept for the next attempt; other jobs report the outage.
            if let Err(error) = written {
                tracing::debug!(%error, "the last use of credentials could not be written yet");
            }
        }
    }

    /// Writes the uses. Call it before shutdown. Uses of credentials that are being
    /// changed are kept for the next call.
    pub async fn flush(&self, pool: &Pool) -> sqlx::Result<()> {
        let mut noted = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if noted.is_empty() {
            return Ok(());
        }
        let written = store::write_last_uses(pool, &noted).await;
        if let Ok(locked) = &written {
            noted.retain(|id, _| locked.contains(&id.uuid()));
        }
        self.keep(noted);
        written.map(drop)
    }

    fn keep(&self, uses: impl IntoIterator<Item = (CredentialId, Timestamp)>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, at) in uses {
            let last = noted.entry(id).or_insert(at);
            *last = at.max(*last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ApiKeyId;

    #[test]
    fn frequent_use_is_recorded_once_per_second() {
        let uses = LastUse::default();
        let noted = Noted::default();
        let key = CredentialId::ApiKey(ApiKeyId::from_uuid(uuid::Uuid::from_u128(1)));
        let at = Timestamp::from_millis;
        let last = || uses.0.lock().unwrap().get(&key).copied();

        uses.note(key, &noted, at(5_000));
        uses.note(key, &noted, at(5_999));
        assert_eq!(last(), Some(at(5_000)));
        uses.note(key, &noted, at(6_000));
        assert_eq!(last(), Some(at(6_000)));
    }
}
