//! Reading an envelope: the five members, or the legacy string forms.

use std::borrow::Cow;
use std::fmt;

use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::context::{ContextTag, Ctx};
use super::header::{self, Header, judged};
use crate::algorithms::Family;
use crate::binary::{bytes_to_judge, from_base64url, from_base64url_padded};
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};

const MEMBERS: [&str; 5] = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];

/// The documentation of [`MEMBERS`].
const DESCRIPTIONS: [&str; 5] = [
    "The JOSE header.",
    "The content encryption key, wrapped.",
    "The initialization vector.",
    "The encrypted payload.",
    "The authentication tag.",
];

/// A well-formed envelope, which has not been opened.
pub struct Envelope {
    pub(super) header: Header,
    /// `protected` as received; it authenticates the content.
    pub(super) protected: String,
    pub(super) encrypted_key: Vec<u8>,
    pub(super) iv: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

/// A legacy string has none of the supported forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be base64url of an envelope, or a JWE compact serialization")]
pub struct NotAnEnvelope;

impl PartialSchema for Envelope {
    fn schema() -> RefOr<Schema> {
        let about = "An envelope: a JWE (RFC 7516) in flattened JSON. Clients treat it as opaque.";
        let object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(about))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        let members = MEMBERS.into_iter().zip(DESCRIPTIONS);
        let object = members.fold(object, |object, (name, description)| {
            let base64url = ObjectBuilder::new()
                .schema_type(Type::String)
                .description(Some(description))
                .pattern(Some("^[A-Za-z0-9_-]*$"));
            object.property(name, base64url).required(name)
        });
        object.into()
    }
}

impl ToSchema for Envelope {
    fn name() -> Cow<'static, str> {
        "Jwe".into()
    }
}

impl Envelope {
    /// Reads the object with the five members; problems are named as seen from inside it.
    pub fn parse(text: Text<'_>) -> Result<Self, Problems> {
        let mut members = Members::exactly(text, &MEMBERS);
        let [protected, encrypted_key, iv, ciphertext, tag] =
            MEMBERS.map(|name| members.required_string(name));
        let header = protected
            .as_ref()
            .and_then(|text| read_header(&mut members, text));
        let mut bytes = |name, text: Option<Cow<'_, str>>| judged(&mut members, name, &text?);
        let encrypted_key = bytes("encrypted_key", encrypted_key);
        let iv = bytes("iv", iv);
        let ciphertext = bytes("ciphertext", ciphertext);
        let tag = bytes("tag", tag);
        members.finish(|| {
            Some(Self {
                header: header?,
                protected: protected?.into_owned(),
                encrypted_key: encrypted_key?,
                iv: iv?,
                ciphertext: ciphertext?,
                tag: tag?,
            })
        })
    }

    /// Reads the legacy string: base64url, padded or not, of the object with the five members or of
    /// a JWE Compact Serialization; or a Compact Serialization as it is.
    pub fn parse_legacy(text: &str) -> Result<Self, NotAnEnvelope> {
        if text.contains('.') {
            return Self::parse_compact(text);
        }
        let inside = from_base64url_padded(text).map_err(|_| NotAnEnvelope)?;
        let inside = str::from_utf8(&inside).map_err(|_| NotAnEnvelope)?;
        match Text::parse(inside.as_bytes()) {
            Ok(object) => Self::parse(object).map_err(|_| NotAnEnvelope),
            Err(_) => Self::parse_compact(inside),
        }
    }

    /// The `kid` that the sender set.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The policy that the header names; the text of a foreign envelope can be anything.
    #[must_use]
    pub fn pol(&self) -> Option<&str> {
        self.header.pol.as_deref()
    }

    /// The MAC of the context that the header states, if it has the form of one.
    #[must_use]
    pub fn ctx(&self) -> Option<ContextTag> {
        match self.header.ctx {
            Ctx::Tag(tag) => Some(tag),
            Ctx::Absent | Ctx::Other => None,
        }
    }

    /// The kind of key that can open it.
    #[must_use]
    pub fn family(&self) -> Family {
        self.header.wrapping.family()
    }

    /// RFC 7516, section 7.1: the five members in this order, with dots between them.
    fn parse_compact(text: &str) -> Result<Self, NotAnEnvelope> {
        let parts: Vec<&str> = text.split('.').collect();
        let [protected, encrypted_key, iv, ciphertext, tag] = parts[..] else {
            return Err(NotAnEnvelope);
        };
        let bytes = |text| bytes_to_judge(from_base64url(text)).map_err(|_| NotAnEnvelope);
        Ok(Self {
            header: header_of(protected).map_err(|_| NotAnEnvelope)?,
            protected: protected.to_owned(),
            encrypted_key: bytes(encrypted_key)?,
            iv: bytes(iv)?,
            ciphertext: bytes(ciphertext)?,
            tag: bytes(tag)?,
        })
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

fn read_header(members: &mut Members<'_>, protected: &str) -> Option<Header> {
    match header_of(protected) {
        Ok(header) => Some(header),
        Err(problems) => {
            members.note_inside("protected", problems);
            None
        }
    }
}

fn header_of(protected: &str) -> Result<Header, Problems> {
    if protected.len() > header::MAX_LEN {
        let message = format!("must have at most {} characters", header::MAX_LEN);
        return Err(Problem::of_body(Code::Length, message).into());
    }
    let json = from_base64url(protected)
        .map_err(|_| Problem::of_body(Code::Format, "must be base64url without padding"))?;
    header::read(&json)
}
