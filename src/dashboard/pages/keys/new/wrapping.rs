//! The first step of a wrapped import: the token generates a wrapping key.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::super::SECTION;
use super::page;
use super::source::NewKeySource;
use crate::error::{PageError, refusal};
use crate::extract::{PageContext, Submitted, invalid_form};
use crate::form::{Body, Form};
use crate::view::fields::Fields;
use crate::view::fields::declared::References;
use crate::view::list::facts;
use crate::view::shell::token;
use crate::view::words;
use engine::management::Error;
use engine::management::keys::{self, ImportParameters, ImportParametersRequest};
use engine::resource::RequestBody as _;

pub(crate) async fn prepare(
    cx: PageContext,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    match made(&cx, &form).await {
        Ok(made) => {
            let form = Form::default()
                .with("wrappedKey.importKeyId", made.import_key_id.to_string())
                .with("wrappedKey.mechanism", made.mechanism.name())
                .with("activate", "yes");
            let page = page(&cx, NewKeySource::Wrapped, &form, &[], Some(&made)).await?;
            Ok((StatusCode::CREATED, page).into_response())
        }
        Err(error) => {
            let problems = refusal(error)?;
            Ok(invalid_form(page(&cx, NewKeySource::Wrapped, &form, &problems, None).await?))
        }
    }
}

async fn made(cx: &PageContext, form: &Form) -> Result<ImportParameters, Error> {
    let proposal = Body::default().set("mechanism", form.text("mechanism"));
    let vault = &cx.dashboard.vault;
    keys::create_import_parameters(&cx.authorize()?, vault, proposal.into_new()?).await
}

/// The first step of a wrapped import, with its result.
pub(super) fn step(
    cx: &PageContext,
    fields: &Fields<'_>,
    parameters: Option<&ImportParameters>,
) -> Markup {
    html! {
        section.card aria-labelledby="wrapping" {
            h2 #wrapping { "1. Wrap the key with a key of the token" }
            @if let Some(made) = parameters {
                (facts([
                    ("Import key ID", html! { code { (made.import_key_id) } }),
                    ("Mechanism", html! { code { (made.mechanism.name()) } }),
                    ("Valid until", words::moment(made.expires_at)),
                    ("SHA-256 of the public key", html! { code { (made.public_key_sha256) } }),
                ]))
                p { "Save this public key as " code { "wrapping.pem" } " on the machine with the key. Verify its SHA-256 over a separate channel." }
                pre tabindex="0" { (made.public_key) }
                pre tabindex="0" { "sealward key wrap --public-key wrapping.pem --mechanism " (made.mechanism.name()) " --sha256 " (made.public_key_sha256) " …" }
            } @else {
                form.form method="post" action={ (SECTION.place()) "/import-parameters" } {
                    (token(&cx.viewer))
                    @for member in ImportParametersRequest::FIELDS {
                        (fields.declared(member, &References::default()))
                    }
                    div.actions { button type="submit" { "Create a wrapping key" } }
                }
            }
        }
    }
}
