//! The audit log: list, record and export.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::TryStreamExt as _;
use maud::{Markup, html};

use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query};
use crate::form::Form;
use crate::pages::{forwarding, sealed};
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::services::service;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, count, isolated, millis, moment};
use engine::audit::{Entry, EntryFilter, Export, Format, Operations, Outcome, entries, entry};
use engine::ids::{ApiKeyId, IdentityId, RecordId, ServiceId};
use engine::management::security::{Log, LogRead, Selection};
use engine::management::{Error, ManageApiKeys, ManageIdentities, Page, ReadAudit, services};

const SECTION: Section = Section::Audit;

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    cx.authorize::<ReadAudit>()?;
    let services = services::choices(&cx.context).await?;
    let mut filters = Filters::of(query);
    let filter = filter(&mut filters, &services);
    let request = filters.page();
    let page = if filters.are_valid() {
        let read =
            LogRead { log: Log::Operations, format: None, selection: Selection::filter(&filter) };
        cx.record_read(read).await?;
        let older_than = request.after().map(RecordId::from_uuid);
        let rows =
            entries(cx.context.pool(), cx.now(), &filter, older_than, request.rows()).await?;
        Page::of(request, rows, |entry: &Entry| entry.id.uuid())
    } else {
        Page::of(request, Vec::new(), |entry: &Entry| entry.id.uuid())
    };
    let named: Vec<_> = page.items.iter().filter_map(|entry| entry.application_id).collect();
    let names = services::names(&cx.context, &named).await?;
    let file = filters.query().clone().without("cursor").query();
    let listing = Listing {
        section: SECTION,
        columns: &["Time", "Operation", "Service", "Response", "Policy", "Response time", "Size"],
        no_match: "No record matches",
        nothing: "No records yet",
        why: "This page lists the requests of applications to the runtime API.",
        action: None,
    };
    let content = html! {
        div.head {
            h1 { "Audit" }
            @if filters.are_valid() {
                div.actions {
                    a.button href={ (SECTION.place()) "/export.csv?" (file) } { "Export CSV" }
                    a.button href={ (SECTION.place()) "/export.ndjson?" (file) } { "Export NDJSON" }
                }
            }
        }
        p.lead { "Operations of applications, newest first. Sealward sends a response after its record is committed." }
        (sealed::checkpoint(&cx, Log::Operations))
        (forwarding::lag(&cx))
        (listing.render(&filters, &page, |entry| row(entry, &names)))
    };
    Ok(cx.page(SECTION, "Audit", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<RecordId>,
) -> Result<Markup, PageError> {
    cx.authorize::<ReadAudit>()?;
    let record = entry(cx.context.pool(), id).await?.ok_or(PageError::NotFound)?;
    let read = LogRead { log: Log::Operations, format: None, selection: Selection::record(id) };
    cx.record_read(read).await?;
    let names = services::names(&cx.context, record.application_id.as_slice()).await?;
    let faint = |text: &str| html! { span.faint { (text) } };
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { "Audit record" }
            (answer(&record))
            (sealed::button(SECTION, &id, record.log_index, record.changed))
        }
        section.card {
            (facts([
                ("Time", moment(record.timestamp)),
                ("Operation", html! { (record.operation_type.as_deref().unwrap_or("unknown")) }),
                ("Endpoint", html! { @match &record.endpoint { Some(path) => code { (path) }, None => (faint("several requests")) } }),
                ("Service", html! { @match record.application_id { Some(id) => (service(id, &names)), None => (faint("unknown")) } }),
                ("API key", html! { @match record.api_key_id { Some(id) => (api_key(&cx, id)), None => (faint("unknown")) } }),
                ("Identity", html! { @match record.identity_id { Some(id) => (identity(&cx, id)), None => (faint("none")) } }),
                ("Token subject", html! { @match &record.token_subject { Some(subject) => (isolated(subject)), None => (faint("none")) } }),
                ("Policy", html! { @match &record.policy_number { Some(number) => a href={ "/dashboard/policies/" (number) } { (isolated(number)) }, None => (faint("none")) } }),
                ("Key", html! { @match record.key_id { Some(id) => a href={ "/dashboard/keys/" (id) } { (id) }, None => (faint("none")) } }),
                ("Item of the batch", html! { @match record.item { Some(item) => (item), None => (faint("none")) } }),
                ("Context (ctx)", html! { @match &record.ctx { Some(ctx) => code { (ctx) }, None => (faint("none")) } }),
                ("Client address", html! { (record.client_address.as_deref().unwrap_or("unknown")) }),
                ("Payload", html! { (count(record.payload_size_bytes)) " bytes" }),
                ("Response time", html! { (millis(f64::from(record.response_time_ms))) }),
                ("Status", html! { (record.response_status) }),
                ("Outcome", html! { (record.outcome) }),
                ("Error", html! { @match &record.error_code { Some(code) => code { (code) }, None => (faint("none")) } }),
                ("Request", html! { a href={ (SECTION.place()) "?" (Form::default().with("requestId", record.request_id.as_str()).query()) } { (isolated(&record.request_id)) } }),
                ("Record", html! { code { (record.id) } }),
                ("Log index", sealed::index(record.log_index, record.changed)),
            ]))
            @if let Some(message) = &record.error_message { p { strong { "Error: " } (isolated(message)) } }
        }
    };
    Ok(cx.page(SECTION, "Audit record", &content))
}

/// The proof that a record is in the tamper-evident log.
pub(crate) async fn proof(
    cx: PageContext,
    Addressed(id): Addressed<RecordId>,
) -> Result<Response, PageError> {
    sealed::download(&cx, Log::Operations, id.uuid(), &id).await
}

pub(crate) async fn export_csv(
    cx: PageContext,
    Query(query): Query,
) -> Result<Response, PageError> {
    download(&cx, query, Format::Csv).await
}

pub(crate) async fn export_ndjson(
    cx: PageContext,
    Query(query): Query,
) -> Result<Response, PageError> {
    download(&cx, query, Format::Ndjson).await
}

/// Streams the matching records.
async fn download(cx: &PageContext, query: Form, format: Format) -> Result<Response, PageError> {
    let reader = cx.authorize::<ReadAudit>()?;
    let mut filters = Filters::of(query);
    let filter = filter(&mut filters, &[]);
    if !filters.are_valid() {
        return Err(PageError::NotFound);
    }
    let read = LogRead {
        log: Log::Operations,
        format: Some(format.media_type()),
        selection: Selection::filter(&filter),
    };
    cx.record_read(read).await?;
    let source = Operations::new(cx.context.pool().clone(), cx.now(), filter);
    let export = Export::new(source, format);
    let headers = [
        (header::CONTENT_TYPE, export.media_type().to_owned()),
        (header::CONTENT_DISPOSITION, export.disposition()),
    ];
    let (sessions, digest) = (cx.dashboard.sessions.clone(), cx.viewer.secret.digest());
    let clock = cx.context.clock().clone();
    let chunks = reader.download(export.pieces()).and_then(move |chunk| {
        let (sessions, clock) = (sessions.clone(), clock.clone());
        async move {
            match sessions.is_valid(clock.now(), digest).await? {
                true => Ok(chunk),
                false => Err(Error::Unauthenticated),
            }
        }
    });
    Ok((headers, Body::from_stream(chunks)).into_response())
}

fn filter(filters: &mut Filters, services: &[(ServiceId, String)]) -> EntryFilter {
    EntryFilter {
        operation_type: filters.one_of("operationType", "Operation"),
        outcome: filters.one_of("outcome", "Outcome"),
        service_id: filters.service("applicationId", "Service", services),
        status: filters.parsed("status", "HTTP status", "must be an HTTP status code"),
        policy_number: filters.text("policyNumber", "Policy number"),
        key_id: filters.parsed("keyId", "Key ID", "must be the ID of a key"),
        identity_id: filters.parsed("identityId", "Identity ID", "must be the ID of an identity"),
        token_subject: filters.text("tokenSubject", "Token subject"),
        request_id: filters.text("requestId", "Request ID"),
        from: filters.moment("from", "From (UTC)"),
        to: filters.moment("to", "Before (UTC)"),
    }
}

/// The ID of an API key; a link if the viewer may read API keys.
fn api_key(cx: &PageContext, id: ApiKeyId) -> Markup {
    html! {
        @if cx.may::<ManageApiKeys>() { a href={ "/dashboard/api-keys/" (id) } { (id) } }
        @else { code { (id) } }
    }
}

/// The ID of an identity; a link if the viewer may read identities.
fn identity(cx: &PageContext, id: IdentityId) -> Markup {
    html! {
        @if cx.may::<ManageIdentities>() { a href={ "/dashboard/identities/" (id) } { (id) } }
        @else { code { (id) } }
    }
}

fn row(entry: &Entry, names: &HashMap<ServiceId, String>) -> Vec<Markup> {
    vec![
        html! { a href={ (SECTION.place()) "/" (entry.id) } { (moment(entry.timestamp)) } },
        html! { (entry.operation_type.as_deref().unwrap_or("unknown")) },
        match entry.application_id {
            Some(id) => service(id, names),
            None => html! { span.faint { "unknown" } },
        },
        answer(entry),
        html! { @match &entry.policy_number { Some(number) => (isolated(number)), None => span.faint { "none" } } },
        html! { span.number { (millis(f64::from(entry.response_time_ms))) } },
        html! { span.number { (count(entry.payload_size_bytes)) " B" } },
    ]
}

fn answer(entry: &Entry) -> Markup {
    let is_unprotected = [Outcome::PassedThrough, Outcome::Dropped]
        .iter()
        .any(|outcome| entry.outcome == outcome.name());
    let note = match &entry.error_code {
        None if is_unprotected => Some(&entry.outcome),
        code => code.as_ref(),
    };
    let text = match note {
        Some(note) => format!("{} {note}", entry.response_status),
        None => entry.response_status.to_string(),
    };
    let tone = match entry.response_status {
        ..400 if is_unprotected => Tone::Warn,
        ..400 => Tone::Good,
        400..500 => Tone::Warn,
        500.. => Tone::Bad,
    };
    badge(tone, &text)
}
