//! The members of payloads: data as JSON or as bytes, and its associated data.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};

use crate::closed_set::ClosedSet;
use crate::protection::body::{Base64, Described, ReadMember, base64};
use formats::binary::from_base64;
use formats::canonical;
use formats::closed_set;
use formats::json::{Members, Text, Verbatim};
use formats::problem::{Code, Problem};
use formats::wiped::Wiped;

closed_set! {
    /// The encoding of `data`: a JSON value, or bytes in base64.
    pub enum Encoding: "Encoding" {
        /// A JSON value.
        Json = "json",
        /// Bytes in base64.
        Base64 = "base64",
    }
}

impl ClosedSet for Encoding {}

pub(super) const ENCODING: &str = "encoding";

/// The bytes that are encrypted: the text of a JSON value, or the decoded base64.
#[derive(Debug)]
pub(in crate::protection) struct Plaintext<'a>(DataBytes<'a>);

/// The bytes that are signed or hashed: those of a JSON value, or the decoded base64.
#[derive(Debug)]
pub(in crate::protection) struct Message<'a>(DataBytes<'a>);

/// The bytes of `data` in a request. It wipes those that it owns.
struct DataBytes<'a>(Cow<'a, [u8]>);

/// The associated data of AES-GCM.
pub(in crate::protection) struct AssociatedData(pub(super) Vec<u8>);

/// `data` of an answer.
pub(in crate::protection) enum DecryptedData<'a> {
    Json(&'a str),
    Base64(&'a [u8]),
}

/// Whether `data` is base64.
pub(super) fn is_base64(members: &Members<'_>) -> bool {
    let encoding = members.optional(ENCODING).and_then(Text::string);
    encoding.is_some_and(|encoding| encoding.is_ok_and(|name| name == Encoding::Base64.name()))
}

/// The problem of an `encoding` that is not base64.
pub(super) fn base64_required(is_given: bool, reason: &str) -> Problem {
    let code = if is_given { Code::Conflict } else { Code::Required };
    Problem::new(ENCODING, code, format!("must be base64: {reason}"))
}

/// Reads bytes in base64. Unlike bytes that cryptography checks, their end must be valid.
fn bytes(members: &mut Members<'_>, name: &str) -> Option<Vec<u8>> {
    let text = members.required_string(name)?;
    let bytes = from_base64(&text);
    if bytes.is_err() {
        members.note(Problem::new(name, Code::Format, "must be base64"));
    }
    bytes.ok()
}

impl<'a> ReadMember<'a> for Plaintext<'a> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let data = if is_base64(members) {
            bytes(members, name).map(Cow::Owned)
        } else {
            let text = members.required(name);
            text.map(|text| Cow::Borrowed(text.as_str().as_bytes()))
        };
        data.map(DataBytes).map(Self)
    }
}

impl<'a> ReadMember<'a> for Message<'a> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        if is_base64(members) {
            return bytes(members, name).map(Cow::Owned).map(DataBytes).map(Self);
        }
        let message = canonical::bytes(members.required(name)?);
        if let Err(error) = message {
            members.note(Problem::from(error).inside(name));
            return None;
        }
        message.ok().map(DataBytes).map(Self)
    }
}

impl Plaintext<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0.0
    }
}

impl Message<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0.0
    }
}

impl Described for Plaintext<'_> {
    fn schema() -> RefOr<Schema> {
        <Text<'_> as Described>::schema()
    }
}

impl Described for Message<'_> {
    fn schema() -> RefOr<Schema> {
        <Text<'_> as Described>::schema()
    }
}

impl Drop for DataBytes<'_> {
    fn drop(&mut self) {
        if let Cow::Owned(bytes) = &mut self.0 {
            drop(Wiped::new(mem::take(bytes)));
        }
    }
}

impl fmt::Debug for DataBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl AssociatedData {
    pub(in crate::protection) const MAX_LEN: usize = 4096;
}

impl<'a> ReadMember<'a> for AssociatedData {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let data = bytes(members, name)?;
        if data.len() > Self::MAX_LEN {
            let message = format!("must have at most {} bytes", Self::MAX_LEN);
            members.note(Problem::new(name, Code::Length, message));
            return None;
        }
        Some(Self(data))
    }
}

impl Described for AssociatedData {
    fn schema() -> RefOr<Schema> {
        base64()
    }
}

impl fmt::Debug for AssociatedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AssociatedData({} bytes)", self.0.len())
    }
}

impl DecryptedData<'_> {
    /// The length of its text.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Json(text) => text.len(),
            Self::Base64(bytes) => bytes.len().div_ceil(3) * 4,
        }
    }
}

impl Serialize for DecryptedData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(text) => Verbatim(text).serialize(serializer),
            Self::Base64(bytes) => Base64(bytes).serialize(serializer),
        }
    }
}

impl fmt::Debug for DecryptedData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecryptedData({} bytes)", self.len())
    }
}
