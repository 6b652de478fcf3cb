//! What is done for keys by the clock: destroying what is due, comparing token and records.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

use super::destroy_due;
use crate::keys::{ImportKeyRecord, Vault};
use crate::management::Context;

/// How often what is due is destroyed.
const TIDY: Duration = Duration::from_secs(60);

/// How often token and records are compared.
const COMPARE: Duration = Duration::from_secs(60 * 60);

/// How long to wait for either to end, so that a server that has gone without a word is told of. What
/// is broken off is as after a crash, which the next time makes good.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Keeps house for as long as the process runs: begins at once, never ends. Whatever fails is told
/// to the log and tried again the next time.
pub async fn keep_house(context: Context, vault: Vault) {
    let mut tidying = interval(TIDY);
    let mut comparing = interval(COMPARE);
    tidying.set_missed_tick_behavior(MissedTickBehavior::Delay);
    comparing.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tidying.tick() => within_reason(tidy(&context, &vault)).await,
            _ = comparing.tick() => within_reason(compare(&vault)).await,
        }
    }
}

async fn within_reason(work: impl Future<Output = ()>) {
    if timeout(LONGEST, work).await.is_err() {
        tracing::warn!(after = ?LONGEST, "what was begun for keys did not end and is given up");
    }
}

async fn compare(vault: &Vault) {
    if let Err(error) = vault.compare().await {
        tracing::warn!(?error, "token and records could not be compared");
    }
}

async fn tidy(context: &Context, vault: &Vault) {
    match destroy_due(context, vault).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "keys were destroyed whose delay had run out"),
        Err(error) => tracing::warn!(?error, "keys that are due could not be destroyed"),
    }
    if let Err(error) = ImportKeyRecord::destroy_spent(vault).await {
        tracing::warn!(?error, "wrapping keys of imports could not be destroyed");
    }
}
