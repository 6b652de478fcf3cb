//! What remains on a key, an algorithm or a policy: what is opened per day, the policies, the callers and the next
//! step.

use std::collections::HashMap;

use maud::{Markup, html};

use super::{SECTION, place, status};
use crate::error::PageError;
use crate::extract::{PageContext, Query};
use crate::form::Form;
use crate::view::chart::{Chart, Series, Shape, exact, plain};
use crate::view::filters::Filters;
use crate::view::list::{empty, table};
use crate::view::services::service;
use crate::view::words::{Tone, badge, count, isolated, moment};
use engine::audit::traffic::OpeningCount;
use engine::ids::{KeyId, ServiceId};
use engine::keys::Usage;
use engine::management::remaining::{
    NextStep, Remaining, RemainingFilter, RemainingKey, RemainingPolicy, remaining,
};
use engine::management::{ManageKeys, ReadAudit, services};
use engine::policy::{NotANumber, PolicyStatus};
use formats::clock::Timestamp;

/// The path of the page.
pub(super) const PLACE: &str = "/dashboard/keys/remaining";

type Names = HashMap<ServiceId, String>;

pub(crate) async fn show(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = RemainingFilter {
        algorithm: filters.one_of("algorithm", "Algorithm"),
        strength_below: filters.parsed(
            "strengthBelow",
            "Strength below (bits)",
            "must be a number of bits",
        ),
        policy: filters.parsed("policyNumber", "Policy number", &NotANumber.to_string()),
        key: filters.parsed("keyId", "Key ID", "must be the ID of a key"),
    };
    let found = match filters.are_valid() {
        true => Some(remaining(&cx.context, &filter).await?),
        false => None,
    };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Remaining use" }
        p.lead { "Shows what still depends on a key, an algorithm or a policy. When nothing is opened with an old key, delete it." }
        (filters.form(PLACE))
        @match found.filter(|found| !found.keys.is_empty()) {
            None => (empty(if filters.narrow() { "No key matches" } else { "No keys yet" }, "Destroyed keys match only their ID.", None)),
            Some(found) => (report(&cx, &found, &filter).await?),
        }
    };
    Ok(cx.page(SECTION, "Remaining use", &content))
}

/// The link to what remains on a key.
pub(super) fn link_of_key(id: KeyId) -> Markup {
    html! { a href={ (PLACE) "?keyId=" (id) } { "What remains on this key" } }
}

/// The link to what remains on a policy.
pub(crate) fn link_of_policy(number: &str) -> Markup {
    html! { a href={ (PLACE) "?policyNumber=" (number) } { "What remains on this policy" } }
}

async fn report(
    cx: &PageContext,
    found: &Remaining,
    filter: &RemainingFilter,
) -> Result<Markup, PageError> {
    let owners = found.keys.iter().map(|key| key.service_id);
    let callers = found.callers.iter().map(|(caller, _)| *caller);
    let named: Vec<ServiceId> = owners.chain(callers).collect();
    let names = services::names(&cx.context, &named).await?;
    Ok(html! {
        section.charts aria-labelledby="openings" {
            div.head {
                h2 #openings { "Last 30 days" }
                @if let Some(until) = found.counted_until { span.faint { "Data until " (moment(until)) } }
            }
            (chart(&found.days))
        }
        (callers_of(cx, found, filter, &names))
        @if *filter == RemainingFilter::default() { (algorithms(found)) }
        @else { (keys(cx, found, &names)) }
        (policies(&found.policies))
    })
}

fn chart(days: &[(Timestamp, OpeningCount)]) -> Markup {
    let steps: Vec<String> = days.iter().map(|(day, _)| date(*day)).collect();
    let total =
        |of: fn(&OpeningCount) -> i64| days.iter().map(|(_, opened)| of(opened)).sum::<i64>();
    let series = |name, of: fn(&OpeningCount) -> i64| Series {
        name,
        total: Some(count(total(of))),
        values: days.iter().map(|(_, it)| Some(exact(of(it).unsigned_abs()))).collect(),
    };
    let (opened, rewrapped) = (|it: &OpeningCount| it.opened, |it: &OpeningCount| it.rewrapped);
    let chart = Chart {
        id: "opened",
        title: "Opened per day",
        summary: format!(
            "{} opened and {} rewrapped in 30 days",
            count(total(opened)),
            count(total(rewrapped))
        ),
        shape: Shape::Bars,
        is_alone: false,
        steps: &steps,
        series: vec![series("Opened", opened), series("Rewrapped", rewrapped)],
        write: plain,
    };
    chart.render()
}

/// The services that opened something, with their audit records.
fn callers_of(
    cx: &PageContext,
    found: &Remaining,
    filter: &RemainingFilter,
    names: &Names,
) -> Markup {
    let records = filter.key.filter(|_| cx.may::<ReadAudit>());
    let rows = found.callers.iter().map(|(caller, opened)| {
        let records = records.map(|key| {
            html! {
                br; a href={ "/dashboard/audit?keyId=" (key) "&applicationId=" (caller) } { "Audit records" }
            }
        });
        vec![html! { (service(*caller, names)) @if let Some(records) = records { (records) } }]
            .into_iter()
            .chain(numbers(opened))
            .collect()
    });
    html! {
        section.card aria-labelledby="callers" {
            h2 #callers { "Callers" }
            p.faint { "Services that opened, decrypted or verified with these keys." }
            @if found.callers.is_empty() { p { "None." } }
            @else { (table("Callers", &["Service", "Opened", "Rewrapped", "Last opened"], rows)) }
        }
    }
}

fn algorithms(found: &Remaining) -> Markup {
    let rows = found.algorithms.iter().map(|(algorithm, uses)| {
        vec![
            html! { a href={ (PLACE) "?" (query("algorithm", algorithm.name())) } { (algorithm.name()) } },
            html! { (algorithm.strength()) " bits, " (algorithm.quantum_status().name()) },
            html! { span.number { (uses.keys) ", " (uses.active) " active" } },
        ]
        .into_iter()
        .chain(numbers(&uses.opened))
        .collect()
    });
    let columns = ["Algorithm", "Strength", "Keys", "Opened", "Rewrapped", "Last opened"];
    html! {
        section.card aria-labelledby="algorithms" {
            h2 #algorithms { "Algorithms" }
            p.faint { "Strengths are those of NIST SP 800-57. A quantum computer breaks keys that are vulnerable." }
            (table("Algorithms", &columns, rows))
        }
    }
}

fn keys(cx: &PageContext, found: &Remaining, names: &Names) -> Markup {
    let rows = found.keys.iter().map(|key| {
        vec![
            html! { a href=(place(key.id)) { (isolated(&key.name)) } br; span.id { (key.id) } },
            html! { (service(key.service_id, names)) br; span.faint { (key.algorithm.name()) } },
            status(key.status),
        ]
        .into_iter()
        .chain(numbers(&key.opened))
        .chain([next(cx, key)])
        .collect()
    });
    let columns = ["Key", "Service", "Status", "Opened", "Rewrapped", "Last opened", "Next step"];
    html! {
        section.card aria-labelledby="keys" {
            h2 #keys { "Keys" }
            @if found.keys.len() < found.keys_in_all {
                p { (found.keys.len()) " of " (found.keys_in_all) " keys. Narrow the filters to see the others." }
            }
            (table("Keys", &columns, rows))
        }
    }
}

fn policies(policies: &[RemainingPolicy]) -> Markup {
    let rows = policies.iter().map(|policy| {
        let number = policy.policy_number.as_str();
        vec![
            html! { a href={ "/dashboard/policies/" (policy.id) } { (number) } },
            html! { code { (policy.alg.name()) } },
            match (policy.is_deleted, policy.status) {
                (true, _) => badge(Tone::Idle, "deleted"),
                (false, PolicyStatus::Active) => badge(Tone::Good, "active"),
                (false, PolicyStatus::Inactive) => badge(Tone::Idle, "inactive"),
            },
            match policy.names_key {
                true => badge(Tone::Warn, "with these keys"),
                false => html! { "not with these keys" },
            },
        ]
        .into_iter()
        .chain(numbers(&policy.opened))
        .collect()
    });
    let columns =
        ["Policy", "Algorithm", "Status", "New envelopes", "Opened", "Rewrapped", "Last opened"];
    html! {
        section.card aria-labelledby="policies" {
            h2 #policies { "Policies" }
            p.faint { "Policies whose new envelopes are for these keys, and policies under which callers opened envelopes." }
            @if policies.is_empty() { p { "None." } }
            @else { (table("Policies", &columns, rows)) }
        }
    }
}

/// How often and when last something was opened.
fn numbers(opened: &OpeningCount) -> [Markup; 3] {
    [
        html! { span.number { (count(opened.opened)) } },
        html! { span.number { (count(opened.rewrapped)) } },
        match opened.last {
            Some(day) => html! { span.number { (date(day)) } },
            None => html! { span.faint { "not in 30 days" } },
        },
    ]
}

/// What to do to end the use of a key.
fn next(cx: &PageContext, key: &RemainingKey) -> Markup {
    let words = match (key.next, key.usage) {
        (NextStep::Replace, Usage::Enc) => {
            "Generate a key with another algorithm. If it has another family, change the algorithm of the policies below."
        }
        (NextStep::Replace, Usage::Sig | Usage::Data) => {
            "Generate a key with another algorithm and name, let the callers use it, and retire this key."
        }
        (NextStep::Rewrap, Usage::Enc) => {
            "Rewrap the stored envelopes of the callers with sealward rewrap-all."
        }
        (NextStep::Rewrap, Usage::Data) => "Encrypt the stored data again with the new key.",
        (NextStep::Rewrap, Usage::Sig) => "Sign what must stay valid again with the new key.",
        (NextStep::Wait, _) => "Wait until callers that run less often are counted.",
        (NextStep::Delete, _) => "Delete the key if no stored data needs it.",
        (NextStep::Nothing, _) => "None: the key is deleted.",
    };
    let action = match key.next {
        NextStep::Replace => {
            Some((format!("{}/new?serviceId={}", SECTION.place(), key.service_id), "Generate key"))
        }
        NextStep::Delete => Some((format!("{}/delete", place(key.id)), "Delete key")),
        NextStep::Rewrap | NextStep::Wait | NextStep::Nothing => None,
    };
    html! {
        (words)
        @if let Some((place, words)) = action.filter(|_| cx.may::<ManageKeys>()) {
            br; a href=(place) { (words) }
        }
    }
}

/// The date of a day.
fn date(day: Timestamp) -> String {
    day.to_string().get(..10).unwrap_or_default().to_owned()
}

/// A query with one parameter.
fn query(name: &str, value: &str) -> String {
    Form::default().with(name, value).query()
}
