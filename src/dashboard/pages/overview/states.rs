//! How each part is that the service needs.

use std::time::Duration;

use hsm::{TokenState, TokenStatus};
use maud::{Markup, html};

use crate::dashboard::app::Dashboard;
use crate::dashboard::view::words::{Tone, badge, count, millis, span};
use crate::db;
use crate::ratelimit::Counting;

/// A database that takes longer is as good as away.
const PATIENCE: Duration = Duration::from_millis(500);

/// A tile for each.
pub(super) async fn states(dashboard: &Dashboard) -> Markup {
    let asked = dashboard.clock.monotonic();
    let answers = db::answers(&dashboard.database, PATIENCE).await;
    let latency = dashboard.clock.monotonic().saturating_sub(asked);
    let queued = i64::try_from(dashboard.recorder.queued()).unwrap_or(i64::MAX);
    html! {
        section aria-labelledby="states" {
            h2.unseen #states { "State" }
            ul.tiles {
                @for token in dashboard.token.status().tokens { (token_tile(&token)) }
                @if answers {
                    (tile("Database", Tone::Good, "answers", &format!("in {}", millis(latency.as_secs_f64() * 1_000.0))))
                } @else {
                    (tile("Database", Tone::Bad, "does not answer", "Nothing can be recorded, so requests are refused."))
                }
                @if dashboard.recorder.is_healthy() {
                    (tile("Audit trail", Tone::Good, "records", &format!("{} waiting to be committed", count(queued))))
                } @else {
                    (tile("Audit trail", Tone::Bad, "cannot record", "Requests are refused until it can."))
                }
                @match dashboard.limiter.counting() {
                    Counting::Alone => { (tile("Rate limiter", Tone::Good, "counts", "in this process")) }
                    Counting::Together => { (tile("Rate limiter", Tone::Good, "counts", "together with other instances")) }
                    Counting::Apart(_) => { (tile("Rate limiter", Tone::Warn, "counts apart", "Each instance gives out its part of each limit.")) }
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
            let canary = token
                .canary
                .map(|took| millis(took.as_secs_f64() * 1_000.0));
            let told = canary.map_or_else(
                || format!("for {since}"),
                |canary| format!("for {since}, canary {canary}"),
            );
            tile(&title, Tone::Good, "serves", &told)
        }
        TokenState::Out { reason } => {
            tile(&title, Tone::Bad, "out", &format!("for {since}: {reason}"))
        }
        TokenState::PinRefused { reason } => tile(&title, Tone::Bad, "PIN refused", reason),
        TokenState::Closed => tile(&title, Tone::Idle, "closed", &format!("for {since}")),
    }
}

fn tile(title: &str, tone: Tone, state: &str, told: &str) -> Markup {
    html! {
        li.tile {
            h3 { (title) }
            p { (badge(tone, state)) }
            p.faint { (told) }
        }
    }
}
