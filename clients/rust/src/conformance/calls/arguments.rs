//! The arguments of a call, as the cases name them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::{Context, Data, Envelope, Error, Payload, Scope, Sealed, Signature, Target};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(pub(super) &'a Value);

impl<'a> Arguments<'a> {
    pub(super) fn text(self, name: &str) -> Option<&'a str> {
        self.0[name].as_str()
    }

    pub(super) fn bytes(self, name: &str) -> Option<Vec<u8>> {
        self.text(name).map(|text| STANDARD.decode(text).unwrap())
    }

    pub(super) fn context(self, name: &str) -> Option<Context> {
        let members = self.0[name].as_object()?.iter();
        Some(members.map(|(name, value)| (name, value.as_str().unwrap())).collect())
    }

    pub(super) fn scope(self) -> Scope {
        let scope = self.text("policyNumber").map_or_else(Scope::new, |it| Scope::new().policy(it));
        match self.context("context") {
            Some(context) => scope.context(context),
            None => scope,
        }
    }

    pub(super) fn target(self) -> Target {
        let target =
            self.text("toPolicyNumber").map_or_else(Target::new, |it| Target::new().policy(it));
        match self.context("toContext") {
            Some(context) => target.context(context),
            None => target,
        }
    }

    pub(super) fn payload(self) -> Result<Payload, Error> {
        self.value("payload")
    }

    pub(super) fn value(self, name: &str) -> Result<Payload, Error> {
        if let Some(text) = self.text(&format!("{name}Json")) {
            return Payload::raw(text);
        }
        if let Some(bytes) = self.bytes(&format!("{name}Bytes")) {
            return Ok(Payload::bytes(&bytes));
        }
        if let Some(length) = self.0[format!("{name}OfLength")].as_u64() {
            return Payload::json(&"x".repeat(usize::try_from(length).unwrap()));
        }
        Payload::json(&self.0[name])
    }

    /// The data of an operation: a JSON value or bytes.
    pub(super) fn data(self) -> Result<(Option<Payload>, Option<Vec<u8>>), Error> {
        match self.bytes("dataBytes") {
            Some(bytes) => Ok((None, Some(bytes))),
            None => Ok((Some(self.value("data")?), None)),
        }
    }

    pub(super) fn signature(self) -> Signature {
        Signature {
            signature: self.bytes("signature").unwrap(),
            algorithm: self.text("algorithm").unwrap().into(),
            key_id: self.text("keyId").unwrap().to_owned(),
            prehashed: self.0["prehashed"] == true,
            format: self.text("signatureFormat").map(Into::into),
        }
    }

    pub(super) fn envelope(self) -> Option<Envelope> {
        let text = self.0.get("jwe")?;
        Some(text.to_string().parse().unwrap())
    }

    pub(super) fn sealed<'b>(self, envelope: Option<&'b Envelope>) -> Sealed<'b>
    where
        'a: 'b,
    {
        match envelope {
            Some(envelope) => Sealed::Envelope(envelope),
            None => Sealed::Legacy(self.text("protectedPayload").unwrap_or_default()),
        }
    }
}

/// The data of an operation, of which one is given.
pub(super) fn data<'a>(payload: &'a Option<Payload>, bytes: &'a Option<Vec<u8>>) -> Data<'a> {
    match (payload, bytes) {
        (Some(payload), _) => Data::Json(payload),
        (None, Some(bytes)) => Data::Bytes(bytes),
        (None, None) => panic!("no data"),
    }
}
