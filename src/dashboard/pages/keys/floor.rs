//! The cryptographic floor: its rules, what it stops, and what stricter ones would stop.

use maud::{Markup, html};

use super::{SECTION, place, remaining};
use crate::error::PageError;
use crate::extract::PageContext;
use crate::view::list::{facts, table};
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, count, isolated};
use engine::floor::{Floor, MINIMUM_STRENGTHS};
use engine::ledger::own_keys;
use engine::management::floor::{Stopped, stopped_by};

/// The path of the page.
pub(super) const PLACE: &str = "/dashboard/keys/floor";

pub(crate) async fn show(cx: PageContext) -> Result<Markup, PageError> {
    let floor = cx.dashboard.floor.floor();
    let own = own_keys(cx.context.pool()).await?;
    let now = stopped_by(cx.context.pool(), floor, &own).await?;
    let mut stricter = Vec::new();
    for minimum in MINIMUM_STRENGTHS {
        let other = floor.with_minimum(minimum);
        // A lower minimum refuses less.
        if other.refused().count() > floor.refused().count() {
            stricter.push((minimum, other, stopped_by(cx.context.pool(), other, &own).await?));
        }
    }
    let warnings = warnings(&cx);
    let content = html! {
        (SECTION.crumbs())
        h1 { "Cryptographic floor" }
        p.lead {
            "Algorithms below the floor make no new keys and no new data. Data that exists is opened and verified in any case. "
            a href=(remaining::PLACE) { "Remaining use" } " shows by whom."
        }
        @if !warnings.is_empty() { ul.dangers { @for warning in &warnings { (warning) } } }
        section.card aria-labelledby="rules" {
            h2 #rules { "Settings" }
            (facts([
                ("Rules", html! { code { (floor.rules()) } }),
            ]))
            p.faint { "The section crypto of the settings of each instance has these rules." }
        }
        (legacy(&cx))
        (stops("now", "What it stops", floor, &now))
        @for (minimum, other, stopped) in &stricter {
            (stops(
                &format!("at-{minimum}"),
                &format!("What crypto.minimum_strength = {minimum} would stop"),
                *other,
                stopped,
            ))
        }
    };
    Ok(cx.page(SECTION, "Cryptographic floor", &content))
}

/// The warnings about the floor.
pub(crate) fn warnings(cx: &PageContext) -> Vec<Markup> {
    let watch = &cx.dashboard.floor;
    let mut warnings = Vec::new();
    let unlike = watch.unlike().unwrap_or_default();
    if unlike > 0 {
        warnings.push(html! {
            li {
                (badge(Tone::Bad, "different floors"))
                p {
                    @if unlike == 1 { "1 instance has" } @else { (count(unlike)) " instances have" }
                    " another " a href=(PLACE) { "cryptographic floor" }
                    ". Give all instances the same settings in the section " code { "crypto" } "."
                }
            }
        });
    }
    let stopped = watch.stopped_rotations().unwrap_or_default();
    if stopped > 0 {
        warnings.push(html! {
            li {
                (badge(Tone::Warn, "not rotated"))
                p {
                    @if stopped == 1 { "1 key is" } @else { (count(stopped)) " keys are" }
                    " not rotated, because the " a href=(PLACE) { "cryptographic floor" }
                    " does not allow the algorithm. Create a key with another algorithm."
                }
            }
        });
    }
    warnings
}

/// What was opened and verified with algorithms below the floor.
fn legacy(cx: &PageContext) -> Markup {
    let uses = cx.dashboard.keyring.legacy_uses();
    let rows = uses.into_iter().filter(|(_, uses)| *uses > 0).map(|((name, operation), uses)| {
        let uses = count(i64::try_from(uses).unwrap_or(i64::MAX));
        vec![html! { (name) }, html! { (operation.name()) }, html! { span.number { (uses) } }]
    });
    let rows: Vec<_> = rows.collect();
    html! {
        section.card aria-labelledby="legacy" {
            h2 #legacy { "Legacy use" }
            p.faint { "What this instance has opened and verified with algorithms below the floor since it started." }
            @if rows.is_empty() { p { "None." } }
            @else { (table("Legacy use", &["Algorithm", "Operation", "Number"], rows)) }
        }
    }
}

fn stops(id: &str, title: &str, floor: Floor, stopped: &Stopped) -> Markup {
    let keys = stopped.keys.iter().map(|key| {
        vec![
            html! { a href=(place(key.id)) { "Key " (isolated(&key.name)) } },
            html! { a href={ (Section::Services.place()) "/" (key.service_id) } { (isolated(&key.service)) } },
            html! {
                (key.algorithm.name())
                @if key.rotates { " " (badge(Tone::Warn, "rotation")) }
            },
        ]
    });
    let policies = stopped.policies.iter().map(|(policy, breach)| {
        let number = policy.policy_number.as_str();
        vec![
            html! { a href={ "/dashboard/policies/" (policy.id) } { "Policy " (number) } },
            html! {},
            html! { (breach) },
        ]
    });
    let rows: Vec<_> = keys.chain(policies).collect();
    html! {
        section.card aria-labelledby=(id) {
            h2 id=(id) { (title) }
            p { "Algorithms: " (names(floor)) }
            @if rows.is_empty() { p { "No active key and no active policy." } }
            @else {
                p { (count(stopped.keys_in_all)) " active keys and " (stopped.policies.len()) " active policies. The lists are limited." }
                (table(title, &["Stopped", "Service", "Reason"], rows))
            }
            @for key in &stopped.own {
                p.faint {
                    "The key of Sealward that " (key.purpose) " is weaker (" (key.algorithm.name()) ", "
                    (key.algorithm.strength()) " bits). It goes on."
                }
            }
        }
    }
}

fn names(floor: Floor) -> Markup {
    let mut names: Vec<_> = floor.refused().map(|algorithm| algorithm.name()).collect();
    names.sort_unstable();
    names.dedup();
    html! {
        @if names.is_empty() { "none" } @else { (names.join(", ")) }
    }
}
