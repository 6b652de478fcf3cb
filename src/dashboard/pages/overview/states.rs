//! The states of the components.

use std::time::Duration;

use hsm::{TokenState, TokenStatus};
use maud::{Markup, html};

use crate::app::Dashboard;
use crate::view::words::{Tone, badge, count, millis, span};
use engine::db;
use engine::ratelimit::Counting;

/// A database that answers later counts as unavailable.
const PATIENCE: Duration = Duration::from_millis(500);

/// One tile per component.
pub(super) async fn states(dashboard: &Dashboard) -> Markup {
    let asked = dashboard.engine.clock.monotonic();
    let answers = db::answers(&dashboard.engine.database, PATIENCE).await;
    let latency = dashboard.engine.clock.monotonic().saturating_sub(asked);
    let queued = i64::try_from(dashboard.engine.recorder.queued()).unwrap_or(i64::MAX);
    html! {
        section aria-labelledby="states" {
            h2.unseen #states { "State" }
            ul.tiles {
                @for token in dashboard.engine.token.status().tokens { (token_tile(&token)) }
                @if answers {
                    (tile("Database", Tone::Good, "answers", &format!("in {}", millis(latency.as_secs_f64() * 1_000.0))))
                } @else {
                    (tile("Database", Tone::Bad, "does not answer", "Requests are refused because they cannot be recorded."))
                }
                @match dashboard.engine.recorder.is_healthy() {
                    Some(true) => { (tile("Audit log", Tone::Good, "records", &format!("{} waiting to be committed", count(queued)))) }
                    Some(false) => { (tile("Audit log", Tone::Bad, "cannot record", "Requests are refused until records can be written.")) }
                    None => { (tile("Audit log", Tone::Warn, "unknown", "The audit writer has not reported for some time.")) }
                }
                @match dashboard.engine.limiter.counting() {
                    Counting::Alone => { (tile("Rate limiter", Tone::Good, "counts", "in this process")) }
                    Counting::Together => { (tile("Rate limiter", Tone::Good, "counts", "together with other instances")) }
                    Counting::Apart(_) => { (tile("Rate limiter", Tone::Warn, "counts separately", "Each instance enforces its share of each limit.")) }
                    Counting::Unknown => { (tile("Rate limiter", Tone::Warn, "unknown", "The shared storage was not checked for some time.")) }
                }
            }
        }
    }
}

fn token_tile(token: &TokenStatus) -> Markup {
    let title = format!("Token {}", token.label);
    let since = span(token.since);
    match &token.state {
        TokenState::Serving => {
            let canary = token.canary.map(|took| millis(took.as_secs_f64() * 1_000.0));
            let detail = canary.map_or_else(
                || format!("for {since}"),
                |canary| format!("for {since}, canary {canary}"),
            );
            tile(&title, Tone::Good, "serves", &detail)
        }
        TokenState::Out { reason } => {
            tile(&title, Tone::Bad, "out", &format!("for {since}: {reason}"))
        }
        TokenState::PinRefused { reason } => tile(&title, Tone::Bad, "PIN refused", reason),
        TokenState::Closed => tile(&title, Tone::Idle, "closed", &format!("for {since}")),
    }
}

fn tile(title: &str, tone: Tone, state: &str, detail: &str) -> Markup {
    html! {
        li.tile {
            h3 { (title) }
            p { (badge(tone, state)) }
            p.faint { (detail) }
        }
    }
}
