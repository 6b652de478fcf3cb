//! A new key: generated in the token, or imported.

mod source;
pub(crate) mod wrapping;

use axum::response::Response;
use formats::algorithms::ImportMechanism;
use maud::{Markup, html};

use self::source::NewKeySource;
use super::{SECTION, place, rules};
use crate::error::{PageError, refusal};
use crate::extract::{PageContext, Query, Submitted, done, invalid_form};
use crate::form::Form;
use crate::view::fields::declared::References;
use crate::view::fields::{Fields, Sheet};
use crate::view::notice::Notice;
use engine::keys::{Key, Usage};
use engine::management::Error;
use engine::management::ManageKeys;
use engine::management::keys::{self, ImportParameters};
use formats::material::Algorithm;
use formats::problem::Problem;

pub(crate) async fn generate(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    cx.authorize::<ManageKeys>()?;
    let form = blank(&query, NewKeySource::Generated);
    page(&cx, NewKeySource::Generated, &form, &[], None).await
}

pub(crate) async fn import(cx: PageContext, Query(query): Query) -> Result<Markup, PageError> {
    cx.authorize::<ManageKeys>()?;
    let source = NewKeySource::of(&query);
    page(&cx, source, &blank(&query, source), &[], None).await
}

pub(crate) async fn create(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let source = NewKeySource::of(&form);
    match made(&cx, source, &form).await {
        Ok(key) => Ok(done(&place(key.id), Notice::Created)),
        Err(error) => {
            let problems = refusal(error)?;
            Ok(invalid_form(page(&cx, source, &form, &problems, None).await?))
        }
    }
}

async fn made(cx: &PageContext, source: NewKeySource, form: &Form) -> Result<Key, Error> {
    let proposal = source.body(form).into_new()?;
    keys::create(&cx.authorize()?, &cx.dashboard.vault, rules(cx), proposal).await
}

fn blank(query: &Form, source: NewKeySource) -> Form {
    let is_made = source == NewKeySource::Generated;
    Form::default()
        .with("from", source.name())
        .with("serviceId", query.text("serviceId"))
        .with_some("use", is_made.then_some(Usage::Enc.name()))
        .with_some("algorithm", is_made.then_some(Algorithm::Rsa3072.name()))
        .with("activate", "yes")
        .with("mechanism", ImportMechanism::RsaOaepSha1AesKwp.name())
        .with("wrappedKey.mechanism", ImportMechanism::RsaOaepSha1AesKwp.name())
}

async fn page(
    cx: &PageContext,
    source: NewKeySource,
    form: &Form,
    problems: &[Problem],
    parameters: Option<&ImportParameters>,
) -> Result<Markup, PageError> {
    let references = References::of(cx, source.members()).await?;
    let fields = Fields::new(form, problems);
    let title = if source == NewKeySource::Generated { "Generate key" } else { "Import key" };
    let sheet = Sheet { action: SECTION.place(), button: title, back: SECTION.place() };
    let terms = html! {
        input type="hidden" name="from" value=(source.name());
        @for member in source.members() { (fields.declared(&member, &references)) }
    };
    let terms = fields.sheet(&cx.viewer, sheet, &terms);
    let content = html! {
        (SECTION.crumbs())
        h1 { (title) }
        @if source != NewKeySource::Generated { (ways(source)) }
        p.lead { (source.means()) }
        @if source == NewKeySource::Plain && !rules(cx).plaintext_import {
            p.notice.warn { "The setting keys.allow_plaintext_import forbids this import. Import a wrapped key instead." }
        } @else if source == NewKeySource::Wrapped {
            (wrapping::step(cx, &fields, parameters))
            h2 { "2. Import the wrapped key" }
            (terms)
        } @else {
            (terms)
        }
    };
    Ok(cx.page(SECTION, title, &content))
}

fn ways(current: NewKeySource) -> Markup {
    html! {
        nav aria-label="Source of the key" {
            div.ranges {
                @for source in NewKeySource::IMPORTS {
                    a href={ (SECTION.place()) "/import?from=" (source.name()) }
                        aria-current=[(source == current).then_some("page")] { (source.title()) }
                }
            }
        }
    }
}
