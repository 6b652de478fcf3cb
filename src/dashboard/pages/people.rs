//! People: the list, the page of a person, and the steps that lock and unlock them.

use axum::response::Response;
use maud::{Markup, html};

use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Query, Submitted, done, invalid_form, refused};
use crate::form::{Body, Form};
use crate::view::confirm::Question;
use crate::view::fields::declared::References;
use crate::view::fields::{Fields, Sheet};
use crate::view::filters::Filters;
use crate::view::list::{Listing, facts};
use crate::view::notice::Notice;
use crate::view::shell::Section;
use crate::view::words::{Tone, badge, isolated, moment, moment_or};
use engine::auth::Role;
use engine::ids::{ApiKeyId, PersonId};
use engine::management::people::{
    self, LockRequest, Person, PersonFilter, PersonStatus, UnseenPersonRequest,
};
use engine::management::{Error, ManageAdminKeys, ManagePeople};
use engine::resource::RequestBody;
use formats::problem::Problem;

const SECTION: Section = Section::People;

/// What a lock does, one sentence each.
const LOCK: [&str; 4] = [
    "The sessions and the access tokens of the person end, and their admin keys are refused.",
    "API keys that the person created and that name another person or nobody keep working. The page of the person lists them.",
    "Pending changes that the person proposed become stale, and their approvals no longer count.",
    "An owner can unlock the person.",
];

/// What the end of a lock does, one sentence each.
const UNLOCK: [&str; 2] = [
    "The person can sign in again, with the roles of their groups, and their admin keys work again.",
    "What the person proposed or approved before the lock stays without effect.",
];

pub(crate) async fn list(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    let context = cx.authorize()?;
    let mut filters = Filters::of(query);
    let filter = PersonFilter { status: filters.one_of("status", "Status") };
    let page = people::list(&context, &filter, filters.page()).await?;
    let lock = cx.may::<ManagePeople>().then(|| {
        html! { a.button href={ (SECTION.place()) "/new" } { "Lock a person who is not listed" } }
    });
    let listing = Listing {
        section: SECTION,
        columns: &["Person", "Status", "Roles at the last check", "Admin keys", "Last seen"],
        no_match: "No person matches",
        nothing: "No people yet",
        why: "A person appears here with the first sign-in, or with the first admin key that names the person.",
        action: None,
    };
    let content = html! {
        div.head { h1 { "People" } @if let Some(lock) = lock { div.actions { (lock) } } }
        p.lead { "People who sign in with OpenID Connect, or whom admin keys name. A lock cuts a person off." }
        (listing.render(&filters, &page, row))
    };
    Ok(cx.page(SECTION, "People", &content))
}

pub(crate) async fn show(
    cx: PageContext,
    Addressed(id): Addressed<PersonId>,
) -> Result<Markup, PageError> {
    let context = cx.authorize()?;
    let person = people::read(&context, id).await?;
    let made = people::keys_made_by(&context, &person).await?;
    let content = html! {
        (SECTION.crumbs())
        div.head {
            h1 { (isolated(&person.name)) }
            (status(&person))
            @if cx.may::<ManagePeople>() {
                div.actions {
                    @if person.is_locked() {
                        a.button href={ (place(id)) "/unlock" } { "Unlock" }
                    } @else {
                        a.button.danger href={ (place(id)) "/lock" } { "Lock" }
                    }
                }
            }
        }
        section.card {
            (facts([
                ("ID", html! { code { (person.id) } }),
                ("Subject", isolated(&person.subject)),
                ("Issuer", html! { @if let Some(issuer) = &person.issuer { (isolated(issuer)) } @else { span.faint { "none" } } }),
                ("Roles at the last check", roles(&person)),
                ("Last seen", moment_or(person.last_seen_at.at(), "never")),
                ("Known since", moment(person.created_at)),
            ]))
        }
        @if person.is_locked() {
            section.card aria-labelledby="lock" {
                h2 #lock { "Lock" }
                (facts([
                    ("Locked", moment_or(person.locked_at, "unknown")),
                    ("Locked by", text_or(person.locked_by.as_deref(), "an emergency lock")),
                    ("Reason", text_or(person.lock_reason.as_deref(), "none")),
                ]))
            }
        }
        section.card aria-labelledby="keys" {
            h2 #keys { "Admin keys" }
            (keys(&cx, person.api_key_ids.iter(), "No admin key names the person."))
        }
        section.card aria-labelledby="made" {
            h2 #made { "API keys that the person created" }
            p.faint { "The person may know them. A lock does not end them: revoke those that the person must not use." }
            (keys(&cx, made, "No key that works was created by the person."))
        }
    };
    Ok(cx.page(SECTION, &person.name, &content))
}

pub(crate) async fn new(cx: PageContext) -> Result<Markup, PageError> {
    cx.authorize::<ManagePeople>()?;
    lock_form::<UnseenPersonRequest>(&cx, None, &Form::default(), &[]).await
}

pub(crate) async fn lock_unseen(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let locked = async {
        let body = Body::default().set_some("subject", form.some("subject"));
        let request = body.set_some("reason", form.some("reason")).into_new()?;
        people::lock_unseen(&cx.authorize()?, request).await
    };
    match locked.await {
        Ok(person) => Ok(done(&place(person.id), Notice::Locked)),
        Err(error) => {
            let problems = refusal(error)?;
            let page = lock_form::<UnseenPersonRequest>(&cx, None, &form, &problems);
            Ok(invalid_form(page.await?))
        }
    }
}

pub(crate) async fn ask_lock(
    cx: PageContext,
    Addressed(id): Addressed<PersonId>,
) -> Result<Markup, PageError> {
    cx.authorize::<ManagePeople>()?;
    let person = people::read(&cx.authorize()?, id).await?;
    let form = Form::default().with("revision", person.revision.to_string());
    lock_form::<LockRequest>(&cx, Some(&person), &form, &[]).await
}

pub(crate) async fn lock(
    cx: PageContext,
    Addressed(id): Addressed<PersonId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match lock_with(&cx, id, &form).await {
        Ok(_) => Ok(done(&place(id), Notice::Locked)),
        Err(error) => {
            let problems = refusal(error)?;
            let person = people::read(&cx.authorize()?, id).await?;
            let page = lock_form::<LockRequest>(&cx, Some(&person), &form, &problems);
            Ok(invalid_form(page.await?))
        }
    }
}

async fn lock_with(cx: &PageContext, id: PersonId, form: &Form) -> Result<Person, Error> {
    let request = Body::default().set_some("reason", form.some("reason")).into_new()?;
    people::lock(&cx.authorize()?, id, &form.expected(), request).await
}

pub(crate) async fn ask_unlock(
    cx: PageContext,
    Addressed(id): Addressed<PersonId>,
) -> Result<Markup, PageError> {
    cx.authorize::<ManagePeople>()?;
    unlock_question(&cx, id, &[]).await
}

pub(crate) async fn unlock(
    cx: PageContext,
    Addressed(id): Addressed<PersonId>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match people::unlock(&cx.authorize()?, id, &form.expected()).await {
        Ok(_) => Ok(done(&place(id), Notice::Unlocked)),
        Err(error) => Ok(refused(unlock_question(&cx, id, &refusal(error)?).await?)),
    }
}

async fn unlock_question(
    cx: &PageContext,
    id: PersonId,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let person = people::read(&cx.authorize()?, id).await?;
    let revision = person.revision.to_string();
    let question = Question {
        title: "Unlock this person?",
        subject: html! { strong { (isolated(&person.name)) } " will be unlocked." },
        means: &UNLOCK,
        dangerous: false,
        yes: "Unlock person",
        action: &format!("{}/unlock", place(id)),
        fields: &[("revision", &revision)],
        back: &place(id),
    };
    Ok(cx.confirmation(SECTION, &question, problems))
}

/// The form of a lock with the members of `R`. Without a person, it names one.
async fn lock_form<R: RequestBody>(
    cx: &PageContext,
    person: Option<&Person>,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let (action, back) = match person {
        Some(person) => (format!("{}/lock", place(person.id)), place(person.id)),
        None => (SECTION.place().to_owned(), SECTION.place().to_owned()),
    };
    let sheet = Sheet { action: &action, button: "Lock person", back: &back };
    let members = R::FIELDS.iter();
    let references = References::of(cx, members.clone().copied()).await?;
    let fields = Fields::new(form, problems);
    let inputs = html! { @for member in members { (fields.declared(member, &references)) } };
    let content = html! {
        (SECTION.crumbs())
        h1 { "Lock this person?" }
        @if let Some(person) = person { p { strong { (isolated(&person.name)) } " will be locked." } }
        ul.means { @for sentence in LOCK { li { (sentence) } } }
        (fields.sheet(&cx.viewer, sheet, &inputs))
    };
    Ok(cx.page(SECTION, "Lock person", &content))
}

fn row(person: &Person) -> Vec<Markup> {
    vec![
        html! {
            a href=(place(person.id)) { (isolated(&person.name)) }
            @if person.name != person.subject { br; span.faint { (isolated(&person.subject)) } }
        },
        status(person),
        roles(person),
        html! { span.number { (person.api_key_ids.iter().count()) } },
        moment_or(person.last_seen_at.at(), "never"),
    ]
}

fn status(person: &Person) -> Markup {
    let tone = match person.status {
        PersonStatus::Active => Tone::Good,
        PersonStatus::Locked => Tone::Bad,
    };
    badge(tone, person.status.name())
}

fn roles(person: &Person) -> Markup {
    let names: Vec<_> = person.roles.iter().map(Role::name).collect();
    html! { @if names.is_empty() { span.faint { "none" } } @else { (names.join(", ")) } }
}

/// A list of API keys. Auditors do not see their pages.
fn keys(cx: &PageContext, keys: impl IntoIterator<Item = ApiKeyId>, none: &str) -> Markup {
    let mut keys = keys.into_iter().peekable();
    let is_linked = cx.may::<ManageAdminKeys>();
    html! {
        @if keys.peek().is_none() {
            p.faint { (none) }
        } @else {
            ul {
                @for id in keys {
                    li { @if is_linked { a href={ "/dashboard/api-keys/" (id) } { (id) } } @else { code { (id) } } }
                }
            }
        }
    }
}

fn text_or(text: Option<&str>, none: &str) -> Markup {
    html! { @if let Some(text) = text { (isolated(text)) } @else { span.faint { (none) } } }
}

fn place(id: PersonId) -> String {
    format!("{}/{id}", SECTION.place())
}
