//! A new key: generated in the token, or brought in.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::keys::{PLACE, USES, crumbs, place, rules};
use super::policies::chosen;
use crate::dashboard::desk::{Asked, Desk, Sent, done};
use crate::dashboard::fault::{Fault, refusal};
use crate::dashboard::form::{Body, Form, moment};
use crate::dashboard::view::fields::{Choice, Field, Fields};
use crate::dashboard::view::filters::options;
use crate::dashboard::view::list::facts;
use crate::dashboard::view::notice::Notice;
use crate::dashboard::view::shell::{Section, token};
use crate::dashboard::view::words;
use crate::keys::Mechanism;
use crate::management::keys::{self, ImportParameters};
use crate::management::services;
use crate::material::Algorithm;
use crate::problem::Problem;

/// Where a new key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Generated,
    Public,
    Wrapped,
    Plain,
    Token,
}

impl Source {
    const IMPORTS: [Self; 4] = [Self::Public, Self::Wrapped, Self::Plain, Self::Token];

    const fn name(self) -> &'static str {
        match self {
            Self::Generated => "generated",
            Self::Public => "public",
            Self::Wrapped => "wrapped",
            Self::Plain => "plain",
            Self::Token => "token",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Generated => "Generate key",
            Self::Public => "Public key",
            Self::Wrapped => "Wrapped for the token",
            Self::Plain => "In plaintext",
            Self::Token => "Already in the token",
        }
    }

    const fn means(self) -> &'static str {
        match self {
            Self::Generated => "The token makes the key. It never leaves it.",
            Self::Public => {
                "Only the public half, of a destination that keeps its private key, or to check signatures with."
            }
            Self::Wrapped => {
                "The private or secret key is wrapped where it is, and unwrapped inside the token: its plaintext never passes through here."
            }
            Self::Plain => {
                "The private or secret key passes through this service, and is wiped after the token has it."
            }
            Self::Token => "A key that the vendor's own tools have put into the token is adopted.",
        }
    }

    fn named(name: &str) -> Self {
        let mut all = Self::IMPORTS.into_iter().chain([Self::Generated]);
        all.find(|source| source.name() == name)
            .unwrap_or(Self::Public)
    }
}

pub(in crate::dashboard) async fn generate(
    desk: Desk,
    Asked(query): Asked,
) -> Result<Markup, Fault> {
    let form = blank(&query, Source::Generated);
    page(&desk, Source::Generated, &form, &[], None).await
}

pub(in crate::dashboard) async fn import(desk: Desk, Asked(query): Asked) -> Result<Markup, Fault> {
    let source = Source::named(query.text("from"));
    page(&desk, source, &blank(&query, source), &[], None).await
}

/// The first step of a wrapped import: the token makes a wrapping key.
pub(in crate::dashboard) async fn prepare(desk: Desk, Sent(form): Sent) -> Result<Response, Fault> {
    let body = Body::default().set("mechanism", form.text("wrappedKey.mechanism"));
    let vault = &desk.dashboard.vault;
    let made = match body.into_new() {
        Ok(proposal) => keys::create_import_parameters(&desk.context, vault, proposal).await,
        Err(error) => Err(error),
    };
    match made {
        Ok(made) => {
            let form = form
                .without("wrappedKey.importKeyId")
                .with("wrappedKey.importKeyId", made.import_key_id.to_string())
                .with("activate", "yes");
            let page = page(&desk, Source::Wrapped, &form, &[], Some(&made)).await?;
            Ok((StatusCode::CREATED, page).into_response())
        }
        Err(error) => {
            let problems = in_form(refusal(error)?);
            let page = page(&desk, Source::Wrapped, &form, &problems, None).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

pub(in crate::dashboard) async fn create(desk: Desk, Sent(form): Sent) -> Result<Response, Fault> {
    let source = Source::named(form.text("from"));
    let made = match body(source, &form).into_new() {
        Ok(proposal) => {
            keys::create(&desk.context, &desk.dashboard.vault, rules(&desk), proposal).await
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(key) => Ok(done(&place(key.id), Notice::Created)),
        Err(error) => {
            let page = page(&desk, source, &form, &refusal(error)?, None).await?;
            Ok((StatusCode::BAD_REQUEST, page).into_response())
        }
    }
}

fn blank(query: &Form, source: Source) -> Form {
    Form::default()
        .with("from", source.name())
        .with("serviceId", query.text("serviceId"))
        .with(
            "use",
            if source == Source::Generated {
                "enc"
            } else {
                ""
            },
        )
        .with(
            "algorithm",
            if source == Source::Generated {
                Algorithm::Rsa3072.name()
            } else {
                ""
            },
        )
        .with("activate", "yes")
        .with("wrappedKey.mechanism", Mechanism::RsaOaepSha1AesKwp.name())
}

/// The API calls it `mechanism`, the form has it among the fields of the wrapped key.
fn in_form(problems: Vec<Problem>) -> Vec<Problem> {
    let inside = |problem: Problem| {
        if problem.field == "mechanism" {
            problem.inside("wrappedKey")
        } else {
            problem
        }
    };
    problems.into_iter().map(inside).collect()
}

fn body(source: Source, form: &Form) -> Body {
    let body = Body::default()
        .set("serviceId", form.text("serviceId"))
        .set_some("name", form.some("name"))
        .set_some("use", form.some("use"))
        .set_some("algorithm", form.some("algorithm"))
        .set("activate", form.has("activate", "yes"))
        .set("expiresAt", moment(form.some("expiresAt")))
        .set_some("publicKey", form.some("publicKey").map(pem_or_jwk));
    match source {
        Source::Generated => body.set("generate", true),
        Source::Public => body,
        Source::Wrapped => body.set(
            "wrappedKey",
            json!({
                "importKeyId": form.text("wrappedKey.importKeyId"),
                "mechanism": form.text("wrappedKey.mechanism"),
                "ciphertext": form.text("wrappedKey.ciphertext"),
            }),
        ),
        Source::Plain => body
            .set_some("privateKey", form.some("privateKey").map(pem_or_jwk))
            .set_some(
                "passphrase",
                Some(form.raw("passphrase")).filter(|text| !text.is_empty()),
            )
            .set_some("secretKey", form.some("secretKey")),
        Source::Token => {
            let named = ["ckaId", "label"].into_iter().filter_map(|member| {
                let text = form.some(&format!("tokenObject.{member}"))?;
                Some((member.to_owned(), Value::from(text)))
            });
            body.set("tokenObject", Value::Object(named.collect()))
        }
    }
}

/// A JWK is an object; anything else is a text.
fn pem_or_jwk(text: &str) -> Value {
    let object = serde_json::from_str::<Value>(text)
        .ok()
        .filter(Value::is_object);
    object.unwrap_or_else(|| text.into())
}

async fn page(
    desk: &Desk,
    source: Source,
    form: &Form,
    problems: &[Problem],
    parameters: Option<&ImportParameters>,
) -> Result<Markup, Fault> {
    let services = services::choices(&desk.context).await?;
    let fields = Fields::new(form, problems);
    let title = if source == Source::Generated {
        "Generate key"
    } else {
        "Import key"
    };
    let terms = html! {
        form.form method="post" action=(PLACE) novalidate {
            (token(&desk.viewer))
            input type="hidden" name="from" value=(source.name());
            (fields.summary())
            (fields.select(Field {
                name: "serviceId", label: "Service", hint: "The service it will belong to.", required: true,
            }, Some("Choose a service"), chosen(&services)))
            (material(source, fields))
            (fields.line("text", Field {
                name: "name", label: "Name", hint: "1 to 100 characters. Without one it is named after its kind.", required: false,
            }))
            (kind(source, fields))
            (fields.line("datetime-local", Field {
                name: "expiresAt", label: "Expires (UTC)",
                hint: "When you mean to have replaced it. Nothing stops by itself.", required: false,
            }))
            (fields.check(Field {
                name: "activate", label: "Active from the beginning",
                hint: "An active envelope key of the same service and family is retired. Otherwise this one begins as retired.",
                required: false,
            }))
            div.actions {
                button.main type="submit" { (title) }
                a.button href=(PLACE) { "Cancel" }
            }
        }
    };
    let content = html! {
        (crumbs())
        h1 { (title) }
        @if source != Source::Generated { (ways(source)) }
        p.lead { (source.means()) }
        @if source == Source::Plain && !rules(desk).plaintext_import {
            p.notice.warn { "The operator has not allowed this here (keys.allow_plaintext_import). Wrap the key instead." }
        } @else if source == Source::Wrapped {
            (wrapping(desk, fields, parameters))
            h2 { "2. Bring in the wrapped key" }
            (terms)
        } @else {
            (terms)
        }
    };
    Ok(desk.page(Section::Keys, title, &content))
}

fn ways(current: Source) -> Markup {
    html! {
        nav aria-label="Where the key comes from" {
            div.ranges {
                @for source in Source::IMPORTS {
                    a href={ (PLACE) "/import?from=" (source.name()) }
                        aria-current=[(source == current).then_some("page")] { (source.title()) }
                }
            }
        }
    }
}

/// The first step of a wrapped import, and what it gave.
fn wrapping(desk: &Desk, fields: Fields<'_>, parameters: Option<&ImportParameters>) -> Markup {
    html! {
        section.card aria-labelledby="wrapping" {
            h2 #wrapping { "1. Wrap it with a key of the token" }
            @if let Some(made) = parameters {
                (facts([
                    ("Import key ID", html! { code { (made.import_key_id) } }),
                    ("Mechanism", html! { code { (made.mechanism.name()) } }),
                    ("Good until", words::moment(made.expires_at)),
                    ("SHA-256 of the public key", html! { code { (made.public_key_sha256) } }),
                ]))
                p { "Save this as " code { "wrapping.pem" } " where the key is. Check the SHA-256 on another way than this page." }
                pre tabindex="0" { (made.public_key) }
                pre tabindex="0" { "sealward key wrap --public-key wrapping.pem --mechanism " (made.mechanism.name()) " --sha256 " (made.public_key_sha256) " …" }
            } @else {
                form.form method="post" action={ (PLACE) "/import-parameters" } {
                    (token(&desk.viewer))
                    (fields.radios(Field {
                        name: "wrappedKey.mechanism", label: "Mechanism",
                        hint: "RSA-OAEP and AES-KWP, as AWS KMS and Google Cloud KMS import keys.", required: true,
                    }, &[
                        Choice { value: "RSA_OAEP_SHA256_AES_KWP", label: "RSA-OAEP with SHA-256", hint: "Where the token offers it." },
                        Choice { value: "RSA_OAEP_SHA1_AES_KWP", label: "RSA-OAEP with SHA-1", hint: "Every token offers it." },
                    ]))
                    div.actions { button type="submit" { "Make a wrapping key" } }
                }
            }
        }
    }
}

/// The fields of the key itself.
fn material(source: Source, fields: Fields<'_>) -> Markup {
    let public = |label, hint| {
        fields.area(
            Field {
                name: "publicKey",
                label,
                hint,
                required: false,
            },
            6,
        )
    };
    match source {
        Source::Generated => html! {},
        Source::Public => fields.area(
            Field {
                name: "publicKey",
                label: "Public key",
                hint: "PEM of a public key or a certificate, or a JWK.",
                required: true,
            },
            8,
        ),
        Source::Wrapped => html! {
            (fields.line("text", Field {
                name: "wrappedKey.importKeyId", label: "Import key ID", hint: "From step 1: imp_….", required: true,
            }))
            (fields.select(Field {
                name: "wrappedKey.mechanism", label: "Mechanism", hint: "As in step 1.", required: true,
            }, None, Mechanism::ALL.map(|it| (it.name().to_owned(), it.name().to_owned()))))
            (fields.area(Field {
                name: "wrappedKey.ciphertext", label: "Wrapped key", hint: "Base64, as sealward key wrap prints it.", required: true,
            }, 6))
            (public("Public half", "PEM or JWK. Needed for keys on a curve, checked for RSA."))
        },
        Source::Plain => html! {
            (fields.secret_area(Field {
                name: "privateKey", label: "Private key",
                hint: "PEM (PKCS#8, also encrypted) or a JWK. Never written back into a page.", required: false,
            }, 8))
            (fields.secret_line(Field {
                name: "passphrase", label: "Passphrase", hint: "Where the PEM is encrypted.", required: false,
            }))
            (fields.secret_area(Field {
                name: "secretKey", label: "Or a secret key", hint: "AES or HMAC, in base64.", required: false,
            }, 2))
        },
        Source::Token => html! {
            (fields.line("text", Field {
                name: "tokenObject.ckaId", label: "CKA_ID", hint: "In hex. Either this or the label.", required: false,
            }))
            (fields.line("text", Field {
                name: "tokenObject.label", label: "CKA_LABEL", ..Field::default()
            }))
            (public("Public half", "PEM or JWK, where the token has none."))
        },
    }
}

fn kind(source: Source, fields: Fields<'_>) -> Markup {
    let none = (source != Source::Generated).then_some("As the key shows");
    html! {
        (fields.select(Field {
            name: "use", label: "Use", hint: "What it may be used for; nothing else is allowed in the token.",
            required: source == Source::Generated,
        }, none, options(USES)))
        (fields.select(Field {
            name: "algorithm", label: "Algorithm",
            hint: "RSA and P- curves for envelopes; these, Ed25519 and HMAC for signatures; AES for data.",
            required: source == Source::Generated,
        }, none, Algorithm::ALL.map(|it| (it.name().to_owned(), it.name().to_owned()))))
    }
}
