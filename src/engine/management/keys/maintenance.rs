//! Periodic work: destroys and rotates keys that are due, and compares the token with the records.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{destroy_due, rotate_due};
use crate::jobs::Pulse;
use crate::keys::{COMPARE_EVERY, ImportKeyRecord, Vault};
use crate::management::{System, idempotency};

/// How often keys that are due are destroyed and rotated, and keys that expire soon are looked for.
const DESTROY_EVERY: Duration = Duration::from_secs(60);

/// The time limit of each, so that a server that does not answer is logged. The next run completes the
/// work, as after a crash.
const TIME_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs the periodic work until the process ends. Failures are logged and tried again the next time.
pub async fn maintain(
    system: System,
    vault: Vault,
    rotation_overlap: Duration,
    pulse: Pulse,
) -> Infallible {
    let mut destroying = interval(DESTROY_EVERY);
    let mut comparing = interval(COMPARE_EVERY);
    destroying.set_missed_tick_behavior(MissedTickBehavior::Delay);
    comparing.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = destroying.tick() => limited(attend(&system, &vault, rotation_overlap)).await,
            _ = comparing.tick() => limited(compare(&vault)).await,
        }
        pulse.alive();
    }
}

async fn limited(work: impl Future<Output = ()>) {
    if timeout(TIME_LIMIT, work).await.is_err() {
        tracing::warn!(after = ?TIME_LIMIT, "periodic work on keys exceeded its time limit");
    }
}

async fn compare(vault: &Vault) {
    if let Err(error) = vault.destroy_abandoned().await {
        tracing::warn!(?error, "keys of failed changes could not be destroyed");
    }
    match vault.compare().await {
        Ok(comparison) => vault.destroy_left_over(&comparison).await,
        Err(error) => tracing::warn!(?error, "the token could not be compared with the records"),
    }
}

async fn attend(system: &System, vault: &Vault, rotation_overlap: Duration) {
    match destroy_due(system, vault).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "destroyed keys whose delay is over"),
        Err(error) => tracing::warn!(?error, "keys that are due could not be destroyed"),
    }
    if let Err(error) = rotate_due(system, vault, rotation_overlap).await {
        tracing::warn!(%error, "keys that are due for rotation could not be read");
    }
    if let Err(error) = vault.watch_expiry().await {
        tracing::warn!(%error, "keys that expire soon could not be read");
    }
    if let Err(error) = idempotency::forget_old(&system.pool, system.clock.now()).await {
        tracing::warn!(%error, "old responses for an Idempotency-Key could not be deleted");
    }
    if let Err(error) = ImportKeyRecord::destroy_spent(vault).await {
        tracing::warn!(?error, "import keys could not be destroyed");
    }
}
