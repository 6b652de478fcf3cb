//! The sources of a new key, with their fields.

use serde_json::json;

use crate::form::{Body, Form};
use crate::view::fields::body;
use engine::management::keys::KeyRequest;
use engine::resource::{Field, RequestBody as _};
use formats::closed_set;

closed_set! {
    /// The source of a new key.
    pub(super) enum NewKeySource: "NewKeySource" {
        Generated = "generated",
        Public = "public",
        Wrapped = "wrapped",
        Plain = "plain",
        Token = "token",
    }
}

impl NewKeySource {
    pub(super) const IMPORTS: [Self; 4] = [Self::Public, Self::Wrapped, Self::Plain, Self::Token];

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

    pub(super) fn of(form: &Form) -> Self {
        form.text("from").parse().unwrap_or(Self::Public)
    }

    /// The members of a request with this source.
    pub(super) fn members(self) -> impl Iterator<Item = Field> + Clone {
        let members = KeyRequest::FIELDS.iter();
        let members = members.filter(move |member| {
            self.material().contains(&member.name) || !MATERIAL.contains(&member.name)
        });
        members.map(move |member| Field {
            required: member.required || self.requires(member.name),
            nullable: member.nullable && !self.material().contains(&member.name),
            ..*member
        })
    }

    fn requires(self, member: &str) -> bool {
        match self {
            Self::Generated => matches!(member, "use" | "algorithm"),
            Self::Public => member == "publicKey",
            Self::Wrapped | Self::Plain | Self::Token => false,
        }
    }

    /// The request body of the API.
    pub(super) fn body(self, form: &Form) -> Body {
        let body = body(form, self.members(), true);
        // Of an object without input, the problems name the members.
        match self {
            Self::Generated => Body(body).set("generate", true),
            Self::Wrapped => Body::default().set("wrappedKey", json!({})).and(body),
            Self::Token => Body::default().set("tokenObject", json!({})).and(body),
            Self::Public | Self::Plain => Body(body),
        }
    }

    const fn material(self) -> &'static [&'static str] {
        match self {
            Self::Generated => &["rotationDays"],
            Self::Public => &["version", "publicKey"],
            Self::Wrapped => &["version", "publicKey", "wrappedKey"],
            Self::Plain => &["version", "privateKey", "passphrase", "secretKey"],
            Self::Token => &["version", "publicKey", "tokenObject"],
        }
    }
}

/// The members that depend on the source.
const MATERIAL: &[&str] = &[
    "generate",
    "rotationDays",
    "version",
    "publicKey",
    "wrappedKey",
    "privateKey",
    "passphrase",
    "secretKey",
    "tokenObject",
];
