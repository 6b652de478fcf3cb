//! Keys: the list, a key's page, its name and expiry.

pub(in crate::dashboard) mod form;
pub(in crate::dashboard) mod new;
pub(in crate::dashboard) mod steps;

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, html};

use self::steps::Step;
use crate::audit::traffic::{last_uses, uses};
use crate::clock::Timestamp;
use crate::dashboard::error::PageError;
use crate::dashboard::extract::{Addressed, PageContext, Query};
use crate::dashboard::view::fields::{Field, Fields};
use crate::dashboard::view::filters::{Filters, options};
use crate::dashboard::view::list::{Listing, facts};
use crate::dashboard::view::services::{chosen, service};
use crate::dashboard::view::shell::Section;
use crate::dashboard::view::words::{
    Tone, ago, badge, count, distance, isolated, moment, moment_and_distance, moment_or,
};
use crate::ids::{KeyId, ServiceId};
use crate::keys::{Key, Origin, Status, Usage};
use crate::management::keys::{self, Filter, Rules};
use crate::management::services;

const SECTION: Section = Section::Keys;

/// Far enough back to see monthly jobs.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The uses of keys, as people choose among them.
const USES: [(&str, &str); 3] = [
    ("enc", "Envelopes (enc)"),
    ("sig", "Signatures (sig)"),
    ("data", "Data (data)"),
];

pub(in crate::dashboard) async fn list(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name: filters.text("name"),
        service_id: filters.parsed("serviceId", "this must be a service"),
        usage: filters.named("use"),
        status: filters.named("status"),
    };
    let page = keys::list(&cx.context, filter, filters.page()).await?;
    let services = services::choices(&cx.context).await?;
    let names: HashMap<_, _> = services.iter().cloned().collect();
    let listed: Vec<KeyId> = page.items.iter().map(|key| key.id).collect();
    let used = last_uses(&cx.context.pool, &listed).await?;
    let now = cx.now();
    let create = html! {
        a.button.main href={ (SECTION.place()) "/new" } { "Generate key" }
        " "
        a.button href={ (SECTION.place()) "/import" } { "Import key" }
    };
    let listing = Listing {
        section: SECTION,
        columns: &["Key", "Service", "Kind", "Status", "Last used", "Expires"],
        none_fits: "No key fits",
        nothing: "No keys yet",
        why: "A service needs an active key before anything can be protected for it.",
        action: Some(create.clone()),
    };
    let fields = |fields: &Fields<'_>| {
        html! {
            (fields.line("search", Field { name: "name", label: "Name contains", ..Field::default() }))
            (fields.select(Field { name: "use", label: "Use", ..Field::default() }, Some("Any"), options(USES)))
            (fields.select(Field { name: "status", label: "Status", ..Field::default() },
                Some("Any"), options(STATUSES)))
            (fields.select(Field { name: "serviceId", label: "Service", ..Field::default() },
                Some("Any"), chosen(&services)))
        }
    };
    let content = html! {
        div.head { h1 { "Keys" } div.actions { (create) } }
        p.lead { "Private and secret keys live in the token alone; here is what is known of them." }
        (listing.render(&filters, &page, fields, |key| row(key, &names, used.get(&key.id), now)))
    };
    Ok(cx.page(SECTION, "Keys", &content))
}

pub(in crate::dashboard) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<KeyId>,
) -> Result<Markup, PageError> {
    let key = keys::read(&cx.context, id).await?;
    let names = services::names(&cx.context, &[key.service_id]).await?;
    let now = cx.now();
    let uses = uses(&cx.context.pool, id, now.minus(MONTH)).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&key.name)) }
            (status(key.status))
            div.actions {
                @if key.status != Status::Destroyed { a.button href={ (place(id)) "/edit" } { "Edit" } }
                @for step in Step::ALL.into_iter().filter(|step| step.fits(&key)) {
                    a.button.danger[step.is_dangerous()] href={ (place(id)) "/" (step.name()) } { (step.button()) }
                }
            }
        }
        (ending(&key, now))
        section.card {
            (facts([
                ("Key ID", html! { code { (key.id) } }),
                ("Service", service(key.service_id, &names)),
                ("Use", html! { (usage(key.usage)) }),
                ("Algorithm", html! { (key.algorithm.name()) }),
                ("Origin", html! { (origin(key.origin)) }),
                ("Private half", private_half(&key)),
                ("Expires", expiry(&key, now)),
                ("Last made active", moment_or(key.activated_at, "never")),
                ("Created", moment(key.created_at)),
                ("Changed", moment(key.updated_at)),
            ]))
        }
        section.card aria-labelledby="uses" {
            h2 #uses { "Use" }
            (facts([
                ("In the last 30 days", html! { span.number { (count(uses.recent)) } }),
                ("Ever", html! { span.number { (count(uses.all)) } }),
                ("Last used", moment_or(uses.last, "never")),
            ]))
            p.faint { "Requests that this key served, a minute late. What was sealed for it elsewhere is not counted until it is opened." }
            p { a href={ "/dashboard/audit?keyId=" (id) } { "What was done with this key" } }
        }
        @if let Some(public) = &key.public {
            section.card aria-labelledby="public" {
                h2 #public { "Public key" }
                (facts([("Thumbprint (RFC 7638)", html! { code { (public.thumbprint()) } })]))
                details { summary { "PEM" } pre tabindex="0" { (public.to_pem()) } }
            }
        }
    };
    Ok(cx.page(SECTION, &key.name, &content))
}

/// What the operator decided about keys.
fn rules(cx: &PageContext) -> Rules {
    let settings = &cx.dashboard.settings;
    Rules {
        destruction_delay: settings.keys.destruction_delay.0,
        plaintext_import: settings.plaintext_import_allowed(),
    }
}

const STATUSES: [(&str, &str); 5] = [
    ("active", "Active"),
    ("retired", "Retired"),
    ("disabled", "Disabled"),
    ("pending_destruction", "Pending destruction"),
    ("destroyed", "Destroyed"),
];

fn row(
    key: &Key,
    names: &HashMap<ServiceId, String>,
    used: Option<&Timestamp>,
    now: Timestamp,
) -> Vec<Markup> {
    vec![
        html! { a href=(place(key.id)) { (isolated(&key.name)) } br; span.id { (key.id) } },
        service(key.service_id, names),
        html! { (key.algorithm.name()) br; span.faint { (usage(key.usage)) } },
        status(key.status),
        ago(used.copied(), now),
        expiry(key, now),
    ]
}

/// What has to be said first about a key that comes to its end.
fn ending(key: &Key, now: Timestamp) -> Markup {
    match (key.status, key.destroy_at) {
        (Status::PendingDestruction, Some(at)) => html! {
            div.notice.bad {
                strong { "This key will be destroyed " (distance(now, at)) "." }
                p { "On " (moment(at)) " the token destroys it, and nothing it sealed can be opened any more. Until then it can be restored." }
            }
        },
        (Status::Destroyed, Some(at)) => html! {
            p.notice.warn { "This key was destroyed; it was due on " (moment(at)) ". Its record and public half stay." }
        },
        _ => html! {},
    }
}

/// The state in a word.
fn status(status: Status) -> Markup {
    match status {
        Status::Active => badge(Tone::Good, "active"),
        Status::Retired => badge(Tone::Idle, "retired"),
        Status::Disabled => badge(Tone::Warn, "disabled"),
        Status::PendingDestruction => badge(Tone::Bad, "pending destruction"),
        Status::Destroyed => badge(Tone::Idle, "destroyed"),
    }
}

fn usage(usage: Usage) -> &'static str {
    match usage {
        Usage::Enc => "envelopes",
        Usage::Sig => "signatures",
        Usage::Data => "data",
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Generated => "generated in the token",
        Origin::Imported => "imported",
        Origin::Adopted => "found in the token",
    }
}

fn private_half(key: &Key) -> Markup {
    if key.has_private() {
        html! { "in the token" }
    } else if key.token_name.is_some() {
        html! { span.faint { "destroyed" } }
    } else {
        html! { span.faint { "not here: public half only" } }
    }
}

fn expiry(key: &Key, now: Timestamp) -> Markup {
    match key.expires_at {
        Some(at) if at <= now => badge(Tone::Bad, &format!("expired {}", distance(now, at))),
        Some(at) => moment_and_distance(at, now),
        None => html! { span.faint { "never" } },
    }
}

fn place(id: KeyId) -> String {
    format!("{}/{id}", SECTION.place())
}
