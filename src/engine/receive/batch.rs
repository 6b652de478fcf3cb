//! What batches of all APIs share.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;

use super::ApiRules;
use crate::protection::Authentication;
use crate::settings::Settings;
use crate::web::{Engine, client_address};

/// Items that began earlier than this before the time limit of the request can end within it.
const MARGIN: Duration = Duration::from_secs(5);

/// Authenticates the caller of a request with these parts again.
pub fn authentication(engine: &Arc<Engine>, rules: ApiRules, parts: &Parts) -> Authentication {
    let kept = Arc::new((rules.credentials)(parts).keep());
    let (engine, client) = (Arc::clone(engine), client_address(&parts.extensions));
    Authentication::new(move || {
        let (engine, kept) = (Arc::clone(&engine), Arc::clone(&kept));
        Box::pin(async move { engine.authenticate(&kept.presented(), client).await })
    })
}

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
