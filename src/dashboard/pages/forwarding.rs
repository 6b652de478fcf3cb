//! The state of forwarding, on the audit page and among the warnings.

use maud::{Markup, html};

use crate::extract::PageContext;
use crate::view::words::{Tone, badge, count, distance, isolated};
use engine::ledger::forward::ForwardState;

/// What the collector lacks. Nothing without forwarding.
pub(super) fn lag(cx: &PageContext) -> Markup {
    let lags = cx.dashboard.forward_status.lags();
    html! {
        @for lag in lags.iter() {
            p.faint {
                @match lag.oldest {
                    Some(oldest) => {
                        "The collector lacks " (count(i64::try_from(lag.entries).unwrap_or(i64::MAX)))
                        " records of the " (lag.log) " log, the first of them from "
                        (distance(cx.now(), oldest)) "."
                    }
                    None => { "The collector has all sealed records of the " (lag.log) " log." }
                }
            }
        }
    }
}

/// The warning that the collector receives nothing, or that this is unknown.
pub(super) fn warning(cx: &PageContext) -> Option<Markup> {
    match cx.dashboard.forward_status.state() {
        ForwardState::Failed(reason) => Some(html! {
            li {
                (badge(Tone::Bad, "not forwarded"))
                p { "The collector receives no audit records: " (isolated(&reason)) " Sealward tries again." }
            }
        }),
        ForwardState::Unknown => Some(html! {
            li {
                (badge(Tone::Warn, "unknown"))
                p { "It is unknown whether the collector receives audit records: the forwarder has not reported for some time." }
            }
        }),
        ForwardState::Off | ForwardState::Standby | ForwardState::Forwarding => None,
    }
}
