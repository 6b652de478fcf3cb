//! The daily comparison of public keys with the tokens: whoever replaced one could open what is protected
//! for it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;

use super::{Key, KeyStatus, Vault, store};
use crate::jobs::{Job, Leader, Pulse};
use crate::resource::Stored as _;
use formats::material::PublicKey;

/// The number of parts of all keys. One is compared each hour.
pub const PUBLIC_KEY_PARTS: i64 = 24;

/// How often the hour is looked at.
const INTERVAL: Duration = Duration::from_secs(60);

const HOUR_MILLIS: i64 = 60 * 60 * 1_000;

/// Compares each public key once a day, on one instance at a time.
pub async fn watch_public_keys(vault: Vault, pulse: Pulse) -> Infallible {
    let mut leader = Leader::new(vault.pool.clone(), Job::PublicKeys);
    let mut compared = None;
    loop {
        let hour = vault.clock.now().as_millis().div_euclid(HOUR_MILLIS);
        let led = async {
            let Some(leadership) = leader.lead().await? else {
                return Ok(());
            };
            let work = async {
                if compared != Some(hour) {
                    vault.compare_public_keys(hour.rem_euclid(PUBLIC_KEY_PARTS)).await?;
                    compared = Some(hour);
                }
                Ok(())
            };
            let done = leadership.marks().during(work).await;
            leader.keep(leadership);
            done
        };
        let ended: sqlx::Result<()> = led.await;
        if let Err(error) = &ended {
            tracing::warn!(%error, "public keys could not be compared with the tokens");
        }
        pulse.ended(&ended);
        sleep(INTERVAL).await;
    }
}

impl Vault {
    /// Compares the public keys of one part with their thumbprints, and with the private keys in the tokens.
    /// Notes those that differ. A key whose token does not answer is compared on the next day.
    pub async fn compare_public_keys(&self, part: i64) -> sqlx::Result<()> {
        for key in store::with_public_key(self.pool.rows(), part, PUBLIC_KEY_PARTS).await? {
            if let Some(is_other) = self.is_other(&key).await {
                self.pool.seals().note_public_key(key.row(), is_other);
            }
        }
        Ok(())
    }

    /// Whether the public key is not that of the key. None if it is unknown.
    async fn is_other(&self, key: &Key) -> Option<bool> {
        let public = key.public_key.as_ref()?;
        if key.thumbprint != Some(PublicKey::thumbprint(public)) {
            return Some(true);
        }
        let purpose = key.usage.purpose();
        let name = key.token_key().filter(|_| key.status != KeyStatus::Destroyed);
        let Some(name) = name.filter(|_| key.has_private()) else {
            return Some(false);
        };
        match self.token.is_private_half(&name, public.parts(), purpose).await {
            Ok(is_half) => Some(!is_half),
            Err(error) => {
                tracing::debug!(key = %key.id, ?error, "a public key was not compared");
                None
            }
        }
    }
}
