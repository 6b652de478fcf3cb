//! What batches of all APIs share.

use std::time::Duration;

use crate::settings::Settings;

/// Items that began earlier than this before the time limit of the request can end within it.
const MARGIN: Duration = Duration::from_secs(5);

/// Enough items to use all sessions of all tokens.
pub fn token_operations(settings: &Settings) -> usize {
    settings.hsm.workers * settings.hsm.tokens.len() * 2
}

/// How long after the arrival of a request its items begin. A short time limit is halved, so that some items
/// begin.
pub fn begin_within(settings: &Settings) -> Duration {
    let timeout = settings.limits.request_timeout.0;
    timeout.saturating_sub(MARGIN.min(timeout / 2))
}
