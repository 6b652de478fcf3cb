//! The ways in which a key comes in, and what each asks for.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::super::USES;
use crate::dashboard::form::{Body, Form, moment};
use crate::dashboard::view::fields::{Field, Fields};
use crate::dashboard::view::filters::options;
use crate::keys::Mechanism;
use crate::material::Algorithm;

/// Where a new key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Generated,
    Public,
    Wrapped,
    Plain,
    Token,
}

impl Source {
    pub(super) const IMPORTS: [Self; 4] = [Self::Public, Self::Wrapped, Self::Plain, Self::Token];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Generated => "generated",
            Self::Public => "public",
            Self::Wrapped => "wrapped",
            Self::Plain => "plain",
            Self::Token => "token",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Generated => "Generate key",
            Self::Public => "Public key",
            Self::Wrapped => "Wrapped for the token",
            Self::Plain => "In plaintext",
            Self::Token => "Already in the token",
        }
    }

    pub(super) const fn means(self) -> &'static str {
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

    pub(super) fn named(name: &str) -> Self {
        let mut all = Self::IMPORTS.into_iter().chain([Self::Generated]);
        all.find(|source| source.name() == name)
            .unwrap_or(Self::Public)
    }

    /// What the API would be sent.
    pub(super) fn body(self, form: &Form) -> Body {
        let body = Body::default()
            .set("serviceId", form.text("serviceId"))
            .set_some("name", form.some("name"))
            .set_some("use", form.some("use"))
            .set_some("algorithm", form.some("algorithm"))
            .set("activate", form.has("activate", "yes"))
            .set("expiresAt", moment(form.some("expiresAt")))
            .set_some("publicKey", form.some("publicKey").map(pem_or_jwk));
        match self {
            Self::Generated => body.set("generate", true),
            Self::Public => body,
            Self::Wrapped => body.set(
                "wrappedKey",
                json!({
                    "importKeyId": form.text("wrappedKey.importKeyId"),
                    "mechanism": form.text("wrappedKey.mechanism"),
                    "ciphertext": form.text("wrappedKey.ciphertext"),
                }),
            ),
            Self::Plain => body
                .set_some("privateKey", form.some("privateKey").map(pem_or_jwk))
                .set_some(
                    "passphrase",
                    Some(form.raw("passphrase")).filter(|text| !text.is_empty()),
                )
                .set_some("secretKey", form.some("secretKey")),
            Self::Token => {
                let named = ["ckaId", "label"].into_iter().filter_map(|member| {
                    let text = form.some(&format!("tokenObject.{member}"))?;
                    Some((member.to_owned(), Value::from(text)))
                });
                body.set("tokenObject", Value::Object(named.collect()))
            }
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

/// The fields of the key itself.
pub(super) fn material(source: Source, fields: &Fields<'_>) -> Markup {
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

pub(super) fn kind(source: Source, fields: &Fields<'_>) -> Markup {
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
