//! Looks after the expiry of active keys.

use super::Vault;
use crate::keys::{Expiring, Expiry, store};

impl Vault {
    /// Looks for active keys whose expiry is near, and logs each at the start and 30, 7 and 1 days ahead
    /// and when it is past.
    pub(crate) async fn watch_expiry(&self) -> sqlx::Result<()> {
        let now = self.clock.now();
        let before = self.expiring.last();
        let mut expiring = Expiring::new();
        for (key, end) in store::expiring(&self.pool, now.plus(Expiry::NEAR)).await? {
            let expiry = Expiry::at(now, end);
            if before.get(&key) != Some(&expiry) {
                tracing::warn!(
                    %key,
                    expires_at = %end,
                    within = expiry.name(),
                    "an active key expires soon or has expired: rotate it"
                );
            }
            expiring.insert(key, expiry);
        }
        self.expiring.set(expiring);
        Ok(())
    }

    /// How many active keys each stage of their expiry has, as last seen, unless it is too long ago.
    pub fn expiring(&self) -> Option<[(Expiry, usize); 4]> {
        let known = self.expiring.known()?;
        Some(Expiry::ALL.map(|expiry| {
            let keys = known.values().filter(|found| **found == expiry);
            (expiry, keys.count())
        }))
    }
}
