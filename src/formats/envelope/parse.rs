//! Reading an envelope: the five members, or the legacy string forms.

use std::borrow::Cow;
use std::fmt;

use super::algorithm::{Alg, Enc};
use super::context::{ContextTag, Ctx};
use super::header::{self, EphemeralKey, Header, Wrapping, judged};
use crate::algorithms::Family;
use crate::binary::{bytes_to_judge, from_base64url, from_base64url_padded};
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};

pub(super) const MEMBERS: [&str; 5] = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];

/// The members in which jwcrypto and Nimbus write `epk`.
pub(super) const UNPROTECTED: [&str; 2] = ["unprotected", "header"];

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

impl Envelope {
    /// Reads the object with the five members; problems are named as seen from inside it. An ephemeral
    /// key may be outside of `protected`: a change of it only breaks the key derivation.
    pub fn parse(text: Text<'_>) -> Result<Self, Problems> {
        let mut members = Members::exactly(text, &[&MEMBERS[..], &UNPROTECTED].concat());
        let [protected, encrypted_key, iv, ciphertext, tag] =
            MEMBERS.map(|name| members.required_string(name));
        let (place, mut outside) = read_unprotected(&mut members).unzip();
        let header =
            protected.as_ref().and_then(|text| read_header(&mut members, text, &mut outside));
        if let (Some(_), Some(_), Some(name)) = (&header, outside, place) {
            members.note(superfluous(name));
        }
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
    pub fn kid(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The policy that the header names; the text of a foreign envelope can be anything.
    pub fn pol(&self) -> Option<&str> {
        self.header.pol.as_deref()
    }

    /// The MAC of the context that the header states, if it has the form of one.
    pub fn ctx(&self) -> Option<ContextTag> {
        match self.header.ctx {
            Ctx::Tag(tag) => Some(tag),
            Ctx::Absent | Ctx::Other => None,
        }
    }

    /// How the header says that the content key is wrapped.
    pub fn alg(&self) -> Alg {
        self.header.wrapping.alg()
    }

    /// How the header says that the content is encrypted.
    pub fn enc(&self) -> Enc {
        self.header.enc
    }

    /// The kind of key that can open it.
    pub fn family(&self) -> Family {
        self.header.wrapping.family()
    }

    /// Whether HPKE wraps its content key.
    pub fn is_hpke(&self) -> bool {
        matches!(self.header.wrapping, Wrapping::Encapsulation(_))
    }

    /// RFC 7516, section 7.1: the five members in this order, with dots between them.
    fn parse_compact(text: &str) -> Result<Self, NotAnEnvelope> {
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or(NotAnEnvelope);
        let [protected, encrypted_key, iv, ciphertext, tag] =
            [next()?, next()?, next()?, next()?, next()?];
        if parts.next().is_some() {
            return Err(NotAnEnvelope);
        }
        let bytes = |text| bytes_to_judge(from_base64url(text)).map_err(|_| NotAnEnvelope);
        Ok(Self {
            header: header_of(protected, &mut None).map_err(|_| NotAnEnvelope)?,
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
        f.debug_struct("Envelope").field("header", &self.header).finish_non_exhaustive()
    }
}

/// The ephemeral key outside of `protected`, and the member that holds it.
fn read_unprotected(members: &mut Members<'_>) -> Option<(&'static str, EphemeralKey)> {
    let mut found = None;
    for name in UNPROTECTED {
        let Some(header) = members.optional(name) else {
            continue;
        };
        let mut inside = Members::exactly(header, &["epk"]);
        let epk = inside.required("epk");
        let (Ok(epk), None) = (inside.finish(|| epk), &found) else {
            members.note(superfluous(name));
            continue;
        };
        let key = header::read_ephemeral_key(epk).unwrap_or_else(|problems| {
            members.note_inside(&format!("{name}.epk"), problems);
            EphemeralKey::MALFORMED
        });
        found = Some((name, key));
    }
    found
}

fn superfluous(name: &'static str) -> Problem {
    let message = "is supported only with epk alone, and only if protected has no epk";
    Problem::new(name, Code::Unknown, message)
}

fn read_header(
    members: &mut Members<'_>,
    protected: &str,
    outside: &mut Option<EphemeralKey>,
) -> Option<Header> {
    match header_of(protected, outside) {
        Ok(header) => Some(header),
        Err(problems) => {
            members.note_inside("protected", problems);
            None
        }
    }
}

fn header_of(protected: &str, outside: &mut Option<EphemeralKey>) -> Result<Header, Problems> {
    if protected.len() > header::MAX_LEN {
        let message = format!("must have at most {} characters", header::MAX_LEN);
        return Err(Problem::of_body(Code::Length, message).into());
    }
    let json = from_base64url(protected)
        .map_err(|_| Problem::of_body(Code::Format, "must be base64url without padding"))?;
    header::read(&json, outside)
}
