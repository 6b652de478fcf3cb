//! Keys: the list and the page of a key.

pub(crate) mod floor;
pub(crate) mod new;
pub(crate) mod remaining;
pub(crate) mod steps;
mod transit;
mod versions;

use std::collections::HashMap;
use std::time::Duration;

use maud::{Markup, html};

use self::steps::KeyAction;
use self::transit::transit;
use self::versions::versions;
use super::form::Editable;
use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query};
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::services::service;
use crate::view::shell::Section;
use crate::view::words::{
    Tone, ago, badge, count, distance, isolated, moment, moment_and_distance, moment_or, seal_mark,
};
use engine::audit::traffic::{last_uses, uses};
use engine::ids::{KeyId, ServiceId};
use engine::keys::{Key, KeyOrigin, KeyStatus, Usage};
use engine::management::keys::{self, KeyFilter, KeyRules, KeyUpdate};
use engine::management::{Error, Expected, ManageKeys, ReadAudit, services};
use engine::resource::ResourceRequest;
use formats::clock::Timestamp;

const SECTION: Section = Section::Keys;

/// The period of the usage count. It includes monthly jobs.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let services = services::choices(&cx.context).await?;
    let mut filters = Filters::of(query);
    let filter = KeyFilter {
        name_contains: filters.search("nameContains", "Name contains"),
        usage: filters.one_of("use", "Use"),
        status: filters.one_of("status", "Status"),
        service_id: filters.service("serviceId", "Service", &services),
        ..KeyFilter::default()
    };
    let page = keys::list(&cx.context, filter, filters.page()).await?;
    let names: HashMap<_, _> = services.into_iter().collect();
    let listed: Vec<KeyId> = page.items.iter().map(|key| key.id).collect();
    let used = last_uses(cx.context.pool(), &listed).await?;
    let now = cx.now();
    let create = cx.may::<ManageKeys>().then(|| {
        html! {
            a.button.main href={ (SECTION.place()) "/new" } { "Generate key" }
            " "
            a.button href={ (SECTION.place()) "/import" } { "Import key" }
        }
    });
    let listing = Listing {
        section: SECTION,
        columns: &["Key", "Service", "Kind", "Status", "Last used", "Expires"],
        no_match: "No key matches",
        nothing: "No keys yet",
        why: "A destination service needs an active key for envelopes.",
        action: create.clone(),
    };
    let content = html! {
        div.head { h1 { "Keys" } @if let Some(create) = create { div.actions { (create) } } }
        p.lead {
            "Private and secret keys are in the token. Sealward stores their states and public keys. The "
            a href=(floor::PLACE) { "cryptographic floor" } " decides which of them make something new. "
            a href=(remaining::PLACE) { "Remaining use" } " shows what still depends on old keys."
        }
        (listing.render(&filters, &page, |key| row(key, &names, used.get(&key.id), now)))
    };
    Ok(cx.page(SECTION, "Keys", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<KeyId>,
) -> Result<Markup, PageError> {
    let key = keys::read(&cx.context, id).await?;
    let names = services::names(&cx.context, &[key.service_id]).await?;
    let now = cx.now();
    let uses = uses(cx.context.pool(), id, now.minus(MONTH)).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&key.name)) }
            (status(key.status))
            @if cx.may::<ManageKeys>() {
                div.actions {
                    @if key.status != KeyStatus::Destroyed { a.button href={ (place(id)) "/edit" } { "Edit" } }
                    @for step in KeyAction::ALL.into_iter().filter(|step| step.fits(&key)) {
                        a.button.danger[step.is_dangerous()] href={ (place(id)) "/" (step.name()) } { (step.button()) }
                    }
                }
            }
        }
        (ending(&key, now))
        (below_floor(&cx, &key))
        section.card {
            (facts([
                ("Key ID", html! { code { (key.id) } }),
                ("Partner key ID", match &key.partner_kid {
                    Some(kid) => html! { code { (&**kid) } },
                    None => html! { span.faint { "none" } },
                }),
                ("Service", service(key.service_id, &names)),
                ("Version", match key.version {
                    Some(version) => html! { (version) },
                    None => html! { span.faint { "none: for envelopes" } },
                }),
                ("Use", html! { (usage(key.usage)) }),
                ("Algorithm", html! { (key.algorithm.name()) }),
                ("Origin", html! { (origin(key.origin)) }),
                ("Private key", private_half(&key)),
                ("Extractable", match key.extractable {
                    Some(true) => badge(Tone::Bad, "yes: it can leave its token"),
                    Some(false) => html! { "no" },
                    None => html! { span.faint { "unknown" } },
                }),
                ("Expires", expiry(&key, now)),
                ("Rotation", rotation(&key, now)),
                ("Last activated", moment_or(key.activated_at, "never")),
                ("Created", moment(key.created_at)),
                ("Changed", moment(key.updated_at)),
            ]))
        }
        section.card aria-labelledby="uses" {
            h2 #uses { "Use" }
            (facts([
                ("In the last 30 days", html! { span.number { (count(uses.recent)) } }),
                ("Total", html! { span.number { (count(uses.all)) } }),
                ("Last used", moment_or(uses.last, "never")),
            ]))
            p.faint { "Requests that used this key, with a delay of up to one minute. Envelopes that others create with its public key count when they are opened." }
            p { (remaining::link_of_key(id)) }
            @if cx.may::<ReadAudit>() {
                p { a href={ "/dashboard/audit?keyId=" (id) } { "Audit records of this key" } }
            }
        }
        (versions(&cx, &key).await?)
        (transit(&cx.dashboard.engine.settings.transit, &key))
        @if let Some(public) = &key.public_key {
            section.card aria-labelledby="public" {
                h2 #public { "Public key" }
                (facts([("Thumbprint (RFC 7638)", html! { code { (public.thumbprint()) } })]))
                details { summary { "PEM" } pre tabindex="0" { (public.to_pem()) } }
            }
        }
    };
    Ok(cx.page(SECTION, &key.name, &content))
}

/// The settings for keys.
pub(crate) fn rules(cx: &PageContext) -> KeyRules {
    KeyRules::of(&cx.dashboard.engine.settings)
}

fn row(
    key: &Key,
    names: &HashMap<ServiceId, String>,
    used: Option<&Timestamp>,
    now: Timestamp,
) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(key.id)) { (isolated(&key.name)) }
            @if let Some(version) = key.version { " " span.faint { "version " (version) } }
            (seal_mark(key.seal_valid))
            br; span.id { (key.id) }
        },
        service(key.service_id, names),
        html! { (key.algorithm.name()) br; span.faint { (usage(key.usage)) } },
        status(key.status),
        ago(used.copied(), now),
        expiry(key, now),
    ]
}

/// The notice that a key makes nothing new.
fn below_floor(cx: &PageContext, key: &Key) -> Markup {
    match cx.dashboard.floor.floor().check(key.algorithm) {
        Ok(()) => html! {},
        Err(breach) => html! {
            div.notice.warn {
                strong { "This key only opens and verifies: " (breach) "." }
                p { "See the " a href=(floor::PLACE) { "cryptographic floor" } "." }
            }
        },
    }
}

/// The notice about the destruction of a key.
fn ending(key: &Key, now: Timestamp) -> Markup {
    match (key.status, key.destroy_at) {
        (KeyStatus::PendingDestruction, Some(at)) => html! {
            div.notice.bad {
                strong { "This key will be destroyed " (distance(now, at)) "." }
                p { "On " (moment(at)) " the token destroys the key, and data protected with it is lost. Until then you can restore the key." }
            }
        },
        (KeyStatus::Destroyed, Some(at)) => html! {
            p.notice.warn { "This key was scheduled for destruction on " (moment(at)) " and is destroyed. Its record and public key remain." }
        },
        _ => html! {},
    }
}

/// The state in a word.
fn status(status: KeyStatus) -> Markup {
    match status {
        KeyStatus::Active => badge(Tone::Good, "active"),
        KeyStatus::Retired => badge(Tone::Idle, "retired"),
        KeyStatus::Disabled => badge(Tone::Warn, "disabled"),
        KeyStatus::PendingDestruction => badge(Tone::Bad, "pending destruction"),
        KeyStatus::Destroyed => badge(Tone::Idle, "destroyed"),
    }
}

fn usage(usage: Usage) -> &'static str {
    match usage {
        Usage::Enc => "envelopes",
        Usage::Sig => "signatures",
        Usage::Data => "data",
    }
}

fn origin(origin: KeyOrigin) -> &'static str {
    match origin {
        KeyOrigin::Generated => "generated in the token",
        KeyOrigin::Imported => "imported",
        KeyOrigin::Adopted => "adopted from the token",
    }
}

fn private_half(key: &Key) -> Markup {
    if key.has_private() {
        html! { "in the token" }
    } else if key.private_half.token_name.is_some() {
        html! { span.faint { "destroyed" } }
    } else {
        html! { span.faint { "not in the token: public key only" } }
    }
}

fn rotation(key: &Key, now: Timestamp) -> Markup {
    html! {
        @match key.rotation_days {
            Some(days) => { "every " (days) " days" }
            None => span.faint { "by hand" }
        }
        @if let Some(at) = key.retire_at {
            br; "a successor is active; this key retires " (moment_and_distance(at, now))
        }
        @if let Some(former) = key.succeeds {
            br; "replaces " a href=(place(former)) { (former) }
        }
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

impl Editable for Key {
    const SECTION: Section = SECTION;
    const NOUN: &'static str = "key";
    const ELSEWHERE: &'static [&'static str] = &["status"];
    type Right = ManageKeys;
    type Request = KeyUpdate;
    type Address = KeyId;

    async fn read(cx: &PageContext, id: &KeyId) -> Result<Self, Error> {
        keys::read(&cx.context, *id).await
    }

    async fn update(
        cx: &PageContext,
        id: &KeyId,
        expected: &Expected,
        request: ResourceRequest<KeyUpdate>,
    ) -> Result<Self, Error> {
        let (context, vault) = (&cx.authorize()?, &cx.dashboard.vault);
        keys::update(context, vault, rules(cx), *id, expected, request).await
    }

    fn place(&self) -> String {
        place(self.id)
    }
}
