//! The forms that create and change a resource, made of the declaration of its members.

use std::str::FromStr;

use axum::response::Response;
use maud::{Markup, html};
use serde::Serialize;

use crate::error::{PageError, refusal};
use crate::extract::{Addressed, PageContext, Query, Submitted, done, invalid_form};
use crate::form::{Body, Form};
use crate::view::fields::declared::References;
use crate::view::fields::{Fields, Sheet};
use crate::view::fields::{body, form_of};
use crate::view::notice::Notice;
use crate::view::shell::Section;
use engine::management::{Error, Expected, Right};
use engine::resource::{Field, FieldInput, Identified, RequestBody, ResourceRequest};
use formats::problem::Problem;

/// A resource with a form that changes it.
pub(crate) trait Editable: Serialize + Identified + Send + Sync + Sized {
    const SECTION: Section;
    /// Its name in a sentence.
    const NOUN: &'static str;
    /// The members that other pages change.
    const ELSEWHERE: &'static [&'static str] = &[];
    /// A note above the form.
    const NOTE: &'static str = "";
    /// The right that creating and changing it requires.
    type Right: Right;
    /// The request that changes it.
    type Request: RequestBody + Send;
    /// The name in URLs.
    type Address: FromStr + Send + Sync;

    fn read(
        cx: &PageContext,
        address: &Self::Address,
    ) -> impl Future<Output = Result<Self, Error>> + Send;

    fn update(
        cx: &PageContext,
        address: &Self::Address,
        expected: &Expected,
        request: ResourceRequest<Self::Request>,
    ) -> impl Future<Output = Result<Self, Error>> + Send;

    /// The member as the form offers it to this administrator, if it does.
    fn offered(_: &PageContext, member: Field) -> Option<Field> {
        Some(member)
    }

    /// The path of its page.
    fn place(&self) -> String;
}

/// A resource with a form that creates it.
pub(crate) trait Creatable: Editable {
    /// The title of the form.
    const CREATE: &'static str;
    /// The names of the sets whose values are all selected in the blank form.
    const ALL_SELECTED: &'static [&'static str] = &[];

    /// The form before input.
    fn blank(query: &Form) -> Form;

    fn create(
        cx: &PageContext,
        request: ResourceRequest<Self::Request>,
    ) -> impl Future<Output = Result<Response, Error>> + Send;
}

pub(crate) async fn new<R: Creatable>(
    cx: PageContext,
    Query(query): Query,
) -> Result<Markup, PageError> {
    cx.authorize::<R::Right>()?;
    let form = settable::<R>().fold(R::blank(&query), |form, member| {
        let FieldInput::AnyOf(names) = member.input else {
            return form;
        };
        let all = R::ALL_SELECTED.contains(&member.name);
        let names = names.iter().filter(|_| all);
        names.fold(form, |form, name| form.with(member.name, *name))
    });
    creation::<R>(&cx, &form, &[]).await
}

pub(crate) async fn create<R: Creatable>(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match created::<R>(&cx, &form).await {
        Ok(response) => Ok(response),
        Err(error) => Ok(invalid_form(creation::<R>(&cx, &form, &refusal(error)?).await?)),
    }
}

pub(crate) async fn edit<R: Editable>(
    cx: PageContext,
    Addressed(address): Addressed<R::Address>,
) -> Result<Markup, PageError> {
    cx.authorize::<R::Right>()?;
    let resource = R::read(&cx, &address).await?;
    let form = form_of(&resource, changeable::<R>());
    let form = form.with("revision", resource.revision().to_string());
    change(&cx, &resource, &form, &[]).await
}

pub(crate) async fn update<R: Editable>(
    cx: PageContext,
    Addressed(address): Addressed<R::Address>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match changed::<R>(&cx, &address, &form).await {
        Ok(resource) => Ok(done(&resource.place(), Notice::Saved)),
        Err(error) => {
            let problems = refusal(error)?;
            let resource = R::read(&cx, &address).await?;
            Ok(invalid_form(change(&cx, &resource, &form, &problems).await?))
        }
    }
}

/// The members of the form that creates the resource.
fn settable<R: Editable>() -> impl Iterator<Item = &'static Field> + Clone + Send {
    let fields = R::Request::FIELDS.iter();
    fields.filter(|field| !R::ELSEWHERE.contains(&field.name))
}

/// The members of the form that changes the resource.
fn changeable<R: Editable>() -> impl Iterator<Item = &'static Field> + Clone + Send {
    settable::<R>().filter(|field| field.changeable)
}

async fn created<R: Creatable>(cx: &PageContext, form: &Form) -> Result<Response, Error> {
    let request = Body(body(form, settable::<R>().copied(), true)).into_new()?;
    R::create(cx, request).await
}

async fn changed<R: Editable>(
    cx: &PageContext,
    address: &R::Address,
    form: &Form,
) -> Result<R, Error> {
    let request = Body(body(form, changeable::<R>().copied(), false)).into_change()?;
    R::update(cx, address, &form.expected(), request).await
}

async fn creation<R: Creatable>(
    cx: &PageContext,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let place = R::SECTION.place();
    let sheet = Sheet { action: place, button: R::CREATE, back: place };
    page::<R>(cx, R::CREATE, sheet, (form, problems), settable::<R>()).await
}

async fn change<R: Editable>(
    cx: &PageContext,
    resource: &R,
    form: &Form,
    problems: &[Problem],
) -> Result<Markup, PageError> {
    let place = resource.place();
    let sheet = Sheet { action: &format!("{place}/edit"), button: "Save changes", back: &place };
    let title = format!("Edit {}", R::NOUN);
    page::<R>(cx, &title, sheet, (form, problems), changeable::<R>()).await
}

async fn page<R: Editable>(
    cx: &PageContext,
    title: &str,
    sheet: Sheet<'_>,
    (form, problems): (&Form, &[Problem]),
    members: impl Iterator<Item = &'static Field> + Clone + Send,
) -> Result<Markup, PageError> {
    let members = members.filter_map(|member| R::offered(cx, *member));
    let references = References::of(cx, members.clone()).await?;
    let fields = Fields::new(form, problems);
    let inputs = html! { @for member in members { (fields.declared(&member, &references)) } };
    let content = html! {
        (R::SECTION.crumbs())
        h1 { (title) }
        @if !R::NOTE.is_empty() { p.lead { (R::NOTE) } }
        (fields.sheet(&cx.viewer, sheet, &inputs))
    };
    Ok(cx.page(R::SECTION, title, &content))
}
