//! Keys: the list, a key's page, its name and expiry.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::api_keys::typed;
use super::key_steps::Step;
use super::policies::{chosen, service};
use crate::audit::traffic::uses;
use crate::clock::Timestamp;
use crate::dashboard::desk::{Addressed, Asked, Desk, Sent, done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::form::{Body, Form, moment as moment_in};
use crate::dashboard::view::fields::{Field, Fields};
use crate::dashboard::view::filters::{Filters, options};
use crate::dashboard::view::list::{empty, facts, pager, table};
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::shell::{Section, token};
use crate::dashboard::view::words::{Tone, badge, count, distance, moment, moment_or, said};
use crate::ids::{KeyId, ServiceId};
use crate::keys::{Key, Origin, Status, Usage};
use crate::management::keys::{self, Filter, KeyDraft, Rules};
use crate::management::services;
use crate::problem::Problem;

pub(super) const PLACE: &str = Section::Keys.place();

/// Far enough back to see monthly jobs.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The uses of keys, as people choose among them.
pub(super) const USES: [(&str, &str); 3] = [
    ("enc", "Envelopes (enc)"),
    ("sig", "Signatures (sig)"),
    ("data", "Data (data)"),
];

pub(in crate::dashboard) async fn list(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let mut filters = Filters::of(query);
    let filter = Filter {
        name: filters.text("name"),
        service_id: filters.parsed("serviceId", "this must be a service"),
        usage: filters.named("use"),
        status: filters.named("status"),
    };
    let page = keys::list(&desk.context, filter, filters.page()).await?;
    let services = services::choices(&desk.context).await?;
    let names: HashMap<_, _> = services.iter().cloned().collect();
    let now = desk.now();
    let create = html! {
        a.button.main href={ (PLACE) "/new" } { "Generate key" }
        " "
        a.button href={ (PLACE) "/import" } { "Import key" }
    };
    let content = html! {
        div.head { h1 { "Keys" } div.actions { (create) } }
        p.lead { "Private and secret keys live in the token alone; here is what is known of them." }
        (filters.form(PLACE, |fields| html! {
            (fields.line("search", Field { name: "name", label: "Name contains", ..Field::default() }))
            (fields.select(Field { name: "use", label: "Use", ..Field::default() }, Some("Any"), options(USES)))
            (fields.select(Field { name: "status", label: "Status", ..Field::default() },
                Some("Any"), options(STATUSES)))
            (fields.select(Field { name: "serviceId", label: "Service", ..Field::default() },
                Some("Any"), chosen(&services)))
        }))
        @if !filters.are_right() || page.items.is_empty() && filters.narrow() {
            (empty("No key fits", "Widen the filters above.", None))
        } @else if page.items.is_empty() {
            (empty("No keys yet", "A service needs an active key before anything can be protected for it.", Some(create)))
        } @else {
            (table("Keys", &["Key", "Service", "Use", "Algorithm", "Status", "Expires"],
                page.items.iter().map(|key| row(key, &names, now))))
        }
        (pager(PLACE, filters.query(), page.next_cursor))
    };
    Ok(desk.page(Section::Keys, "Keys", &content))
}

pub(in crate::dashboard) async fn show(
    desk: Desk,
    Addressed(id): Addressed<KeyId>,
) -> Result<Markup, Fault> {
    let key = keys::read(&desk.context, id).await?;
    let names = services::names(&desk.context, &[key.service_id]).await?;
    let now = desk.now();
    let uses = uses(&desk.context.pool, id, now.minus(MONTH)).await?;
    let content = html! {
        (crumbs())
        div.head {
            h1 { (said(&key.name)) }
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
    Ok(desk.page(Section::Keys, &key.name, &content))
}

pub(in crate::dashboard) async fn edit(
    desk: Desk,
    Addressed(id): Addressed<KeyId>,
) -> Result<Markup, Fault> {
    let key = keys::read(&desk.context, id).await?;
    let form = Form::default()
        .with("revision", key.revision.to_string())
        .with("name", key.name.as_str())
        .with_some("expiresAt", key.expires_at.map(typed));
    Ok(change(&desk, id, &form, &[]))
}

pub(in crate::dashboard) async fn update(
    desk: Desk,
    Addressed(id): Addressed<KeyId>,
    Sent(form): Sent,
) -> Result<Response, Fault> {
    let body = Body::default()
        .set("name", form.text("name"))
        .set("expiresAt", moment_in(form.some("expiresAt")));
    let changed = match body.into_change::<KeyDraft>() {
        Ok(proposal) => keys::update(&desk.context, id, &form.expected(), proposal).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(_) => Ok(done(&place(id), Notice::Saved)),
        Err(error) => {
            let page = change(&desk, id, &form, &refusal(error)?);
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

/// What the operator decided about keys.
pub(super) fn rules(desk: &Desk) -> Rules {
    let settings = &desk.dashboard.settings;
    Rules {
        destruction_delay: settings.keys.destruction_delay.0,
        plaintext_import: settings.plaintext_import_allowed(),
    }
}

fn change(desk: &Desk, id: KeyId, form: &Form, problems: &[Problem]) -> Markup {
    let fields = Fields::new(form, problems);
    let there = place(id);
    let content = html! {
        (crumbs())
        h1 { "Edit key" }
        form.form method="post" action={ (there) "/edit" } novalidate {
            (token(&desk.viewer))
            input type="hidden" name="revision" value=(form.text("revision"));
            (fields.summary())
            (fields.line("text", Field {
                name: "name", label: "Name", hint: "1 to 100 characters, for people.", required: true,
            }))
            (fields.line("datetime-local", Field {
                name: "expiresAt", label: "Expires (UTC)",
                hint: "When you mean to have replaced it. The overview reminds you; nothing stops by itself.",
                required: false,
            }))
            div.actions {
                button.main type="submit" { "Save changes" }
                a.button href=(there) { "Cancel" }
            }
        }
    };
    desk.page(Section::Keys, "Edit key", &content)
}

const STATUSES: [(&str, &str); 5] = [
    ("active", "Active"),
    ("retired", "Retired"),
    ("disabled", "Disabled"),
    ("pending_destruction", "Pending destruction"),
    ("destroyed", "Destroyed"),
];

fn row(key: &Key, names: &HashMap<ServiceId, String>, now: Timestamp) -> Vec<Markup> {
    vec![
        html! { a href=(place(key.id)) { (said(&key.name)) } br; span.id { (key.id) } },
        service(key.service_id, names),
        html! { (key.usage.name()) },
        html! { (key.algorithm.name()) },
        status(key.status),
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
pub(super) fn status(status: Status) -> Markup {
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
        Usage::Data => "encryption of data",
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
    } else {
        html! { span.faint { "not here: public half only" } }
    }
}

fn expiry(key: &Key, now: Timestamp) -> Markup {
    match key.expires_at {
        Some(at) if at <= now => badge(Tone::Bad, &format!("expired {}", distance(now, at))),
        Some(at) => html! { (moment(at)) " " span.faint { "(" (distance(now, at)) ")" } },
        None => html! { span.faint { "never" } },
    }
}

pub(super) fn place(id: KeyId) -> String {
    format!("{PLACE}/{id}")
}

pub(super) fn crumbs() -> Markup {
    html! { p.crumbs { a href=(PLACE) { "Keys" } } }
}
