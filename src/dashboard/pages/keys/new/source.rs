//! The sources of a new key, with their fields.

use hsm::ImportMechanism;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::super::USES;
use crate::dashboard::form::{Body, Form, moment};
use crate::dashboard::view::fields::{Field, Fields};
use crate::dashboard::view::filters::options;
use crate::material::Algorithm;

/// The source of a new key.
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
            Self::Generated => {
                "The token generates the key. The private key never leaves the token."
            }
            Self::Public => {
                "A public key, for a destination that holds the private key or to verify signatures."
            }
            Self::Wrapped => {
                "You wrap the private or secret key on its machine, and the token unwraps it. Sealward never sees its plaintext."
            }
            Self::Plain => {
                "Sealward receives the private or secret key in plaintext, and wipes it after the token has imported it."
            }
            Self::Token => "Sealward adopts a key that the vendor's tools created in the token.",
        }
    }

    pub(super) fn named(name: &str) -> Self {
        let mut all = Self::IMPORTS.into_iter().chain([Self::Generated]);
        all.find(|source| source.name() == name)
            .unwrap_or(Self::Public)
    }

    /// The request body of the API.
    pub(super) fn body(self, form: &Form) -> Body {
        let body = Body::default()
            .set("serviceId", form.text("serviceId"))
            .set_some("name", form.some("name"))
            .set_some("use", form.some("use"))
            .set_some("algorithm", form.some("algorithm"))
            .set_some("partnerKid", form.some("partnerKid"))
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

/// A JWK is an object. Other formats are strings.
fn pem_or_jwk(text: &str) -> Value {
    let object = serde_json::from_str::<Value>(text)
        .ok()
        .filter(Value::is_object);
    object.unwrap_or_else(|| text.into())
}

/// The fields for the key material.
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
            }, None, ImportMechanism::ALL.map(|it| (it.name().to_owned(), it.name().to_owned()))))
            (fields.area(Field {
                name: "wrappedKey.ciphertext", label: "Wrapped key", hint: "Base64, the output of sealward key wrap.", required: true,
            }, 6))
            (public("Public key", "PEM or JWK. Required for EC keys. Optional for RSA keys, to check the match."))
        },
        Source::Plain => html! {
            (fields.secret_area(Field {
                name: "privateKey", label: "Private key",
                hint: "PEM (PKCS#8, also encrypted) or a JWK. No page shows it again.", required: false,
            }, 8))
            (fields.secret_line(Field {
                name: "passphrase", label: "Passphrase", hint: "For an encrypted PEM.", required: false,
            }))
            (fields.secret_area(Field {
                name: "secretKey", label: "Or a secret key", hint: "AES or HMAC, in base64.", required: false,
            }, 2))
        },
        Source::Token => html! {
            (fields.line("text", Field {
                name: "tokenObject.ckaId", label: "CKA_ID", hint: "In hex. Set this or the label.", required: false,
            }))
            (fields.line("text", Field {
                name: "tokenObject.label", label: "CKA_LABEL", ..Field::default()
            }))
            (public("Public key", "PEM or JWK. Required if the token does not store it."))
        },
    }
}

pub(super) fn kind(source: Source, fields: &Fields<'_>) -> Markup {
    let none = (source != Source::Generated).then_some("Derive from the key");
    html! {
        (fields.select(Field {
            name: "use", label: "Use", hint: "The token allows only this use.",
            required: source == Source::Generated,
        }, none, options(USES)))
        (fields.select(Field {
            name: "algorithm", label: "Algorithm",
            hint: "Envelopes: RSA, P-256, P-384, P-521. Signatures: the same, Ed25519, HMAC. Data: AES.",
            required: source == Source::Generated,
        }, none, Algorithm::ALL.map(|it| (it.name().to_owned(), it.name().to_owned()))))
    }
}
