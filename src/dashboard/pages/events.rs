//! Management events: the changes of administrators.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use crate::error::PageError;
use crate::extract::{Addressed, PageContext, Query};
use crate::form::Form;
use crate::pages::sealed;
use crate::view::difference;
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, capital, isolated, moment};
use engine::ids::EventId;
use engine::management::events::{self, EventFilter, Recorded};
use engine::management::security::{Log, LogRead, Selection};
use engine::management::{
    Action, ManageAdminKeys, ManageIdentities, Page, PageRequest, ReadAudit, ResourceType,
};

const SECTION: Section = Section::Events;

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    cx.authorize::<ReadAudit>()?;
    let mut filters = Filters::of(query);
    let filter = EventFilter {
        action: filters.one_of("action", "Action"),
        resource_type: filters.one_of("resourceType", "Resource type"),
        resource_id: filters.parsed("resourceId", "Resource ID", "must be the ID of a resource"),
        api_key_id: filters.parsed("apiKeyId", "Admin key ID", "must be the ID of an API key"),
        request_id: filters.text("requestId", "Request ID"),
        from: filters.moment("from", "From (UTC)"),
        to: filters.moment("to", "Before (UTC)"),
    };
    let page = if filters.are_valid() {
        let read =
            LogRead { log: Log::Management, format: None, selection: Selection::filter(&filter) };
        cx.record_read(read).await?;
        events::list(&cx.authorize()?, &filter, filters.page()).await?
    } else {
        Page::of(PageRequest::default(), Vec::new(), |event: &Recorded| event.id.uuid())
    };
    let listing = Listing {
        section: SECTION,
        columns: &["Time", "Action", "Resource", "By"],
        no_match: "No event matches",
        nothing: "No events yet",
        why: "This page lists the changes that administrators make, and security events.",
        action: None,
    };
    let content = html! {
        div.head { h1 { "Management events" } }
        p.lead { "All changes by administrators, and security events. Each change and its event are one transaction." }
        (sealed::checkpoint(&cx, Log::Management))
        (listing.render(&filters, &page, |event| row(&cx, event)))
    };
    Ok(cx.page(SECTION, "Management events", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<EventId>,
) -> Result<Markup, PageError> {
    let event = events::read(&cx.authorize()?, id).await?.ok_or(PageError::NotFound)?;
    let read = LogRead { log: Log::Management, format: None, selection: Selection::record(id) };
    cx.record_read(read).await?;
    let faint = |text: &str| html! { span.faint { (text) } };
    let same_of =
        event.resource_id.as_deref().map(|id| Form::default().with("resourceId", id).query());
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (capital(noun(&event))) }
            (action(&event))
            (sealed::button(SECTION, &id, event.log_index, event.changed))
        }
        section.card {
            (facts([
                ("Time", moment(event.timestamp)),
                ("By", by(&cx, &event)),
                ("Resource", html! { (resource(&cx, &event)) }),
                ("Events of this resource", html! { @match &same_of { Some(query) => a href={ (SECTION.place()) "?" (query) } { "Show" }, None => (faint("none")) } }),
                ("Client address", html! { @match event.client_address { Some(address) => (address), None => (faint("none: local command")) } }),
                ("Request", html! { @match &event.request_id { Some(request) => code { (request) }, None => (faint("none")) } }),
                ("Approved change", html! { @match &event.change_id { Some(change) => a href={ "/dashboard/changes/" (change) } { (change) }, None => (faint("none")) } }),
                ("Approved by", html! { @match &event.approved_by { Some(people) => (isolated(&people.join(", "))), None => (faint("no approval needed")) } }),
                ("Event", html! { code { (event.id) } }),
                ("Log index", sealed::index(event.log_index, event.changed)),
            ]))
        }
        (difference::card(event.before.as_ref(), event.after.as_ref()))
    };
    Ok(cx.page(SECTION, "Management event", &content))
}

/// The proof that an event is in the tamper-evident log.
pub(crate) async fn proof(
    cx: PageContext,
    Addressed(id): Addressed<EventId>,
) -> Result<Response, PageError> {
    sealed::download(&cx, Log::Management, id.uuid(), &id).await
}

fn row(cx: &PageContext, event: &Recorded) -> Vec<Markup> {
    vec![
        html! { a href={ (SECTION.place()) "/" (event.id) } { (moment(event.timestamp)) } },
        action(event),
        html! { (capital(noun(event))) " " (named(event)) @if let Some(id) = &event.resource_id { br; span.id { (id) } } },
        by(cx, event),
    ]
}

/// The name of the resource at the time of the event.
fn named(event: &Recorded) -> Markup {
    let state = event.after.as_ref().or(event.before.as_ref());
    let name = state.and_then(|state| state.get("name")).and_then(Value::as_str);
    html! { @if let Some(name) = name { strong { (isolated(name)) } } }
}

fn by(cx: &PageContext, event: &Recorded) -> Markup {
    let name = isolated(&event.actor);
    match (event.api_key_id, &event.person) {
        (Some(id), _) if cx.may::<ManageAdminKeys>() => {
            html! { a href={ "/dashboard/api-keys/" (id) } { (name) } }
        }
        (Some(_), _) => name,
        // People can choose their names; their subject is that of the provider.
        (None, Some(person)) => {
            html! { (name) br; span.faint { "person " (isolated(&person.sub)) } }
        }
        (None, None) if event.client_address.is_some() => {
            html! { (name) " " span.faint { "(no credential)" } }
        }
        (None, None) => html! { (name) " " span.faint { "(the service itself)" } },
    }
}

fn resource(cx: &PageContext, event: &Recorded) -> Markup {
    let Some(id) = &event.resource_id else {
        return html! { span.faint { "none" } };
    };
    let of = event.resource_type();
    let is_visible = (of != Some(ResourceType::ApiKey) || cx.may::<ManageAdminKeys>())
        && (of != Some(ResourceType::Identity) || cx.may::<ManageIdentities>());
    match of.and_then(ResourceType::collection).filter(|_| is_visible) {
        Some(place) => html! { a href={ "/dashboard/" (place) "/" (id) } { (id) } },
        None => html! { code { (id) } },
    }
}

/// The type of the resource for people; of a type that a later release adds, its name in the API.
fn noun(event: &Recorded) -> &str {
    event.resource_type().map_or(event.resource_type.as_str(), |known| known.label())
}

fn action(event: &Recorded) -> Markup {
    badge(event.action().map_or(Tone::Idle, tone), &event.action)
}

const fn tone(action: Action) -> Tone {
    match action {
        Action::Create
        | Action::Restore
        | Action::Approve
        | Action::Unfreeze
        | Action::Unlock
        | Action::SignIn
        | Action::Start
        | Action::TokenFound => Tone::Good,
        Action::Update
        | Action::SignOut
        | Action::Read
        | Action::Export
        | Action::Stop
        | Action::RowKeyRenewed => Tone::Idle,
        Action::Delete
        | Action::Freeze
        | Action::Disable
        | Action::Revoke
        | Action::Lock
        | Action::Destroy
        | Action::Reject
        | Action::Withdraw
        | Action::SignInFailed
        | Action::Refuse
        | Action::RowInvalid
        | Action::RowDeviates
        | Action::RowSealed
        | Action::TokenLost
        | Action::PinRefused => Tone::Bad,
    }
}
