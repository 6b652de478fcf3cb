//! Envelopes and their contexts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Invalid};

/// An envelope: a JWE in flattened JSON serialization. Store it unchanged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Envelope {
    pub(crate) protected: String,
    pub(crate) encrypted_key: String,
    pub(crate) iv: String,
    pub(crate) ciphertext: String,
    pub(crate) tag: String,
    /// Where other libraries write the ephemeral public key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unprotected: Option<Box<RawValue>>,
}

impl Envelope {
    pub(crate) fn of([protected, encrypted_key, iv, ciphertext, tag]: [String; 5]) -> Self {
        Self { protected, encrypted_key, iv, ciphertext, tag, header: None, unprotected: None }
    }
}

/// As compact JSON.
impl fmt::Display for Envelope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&text)
    }
}

/// From JSON.
impl FromStr for Envelope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|_| Error::Invalid(Invalid::Envelope))
    }
}

impl PartialEq for Envelope {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// The object to which an envelope belongs, for example a tenant and a record.
///
/// An envelope opens only with the context with which it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Context(BTreeMap<String, String>);

impl<K: Into<String>, V: Into<String>, const N: usize> From<[(K, V); N]> for Context {
    fn from(members: [(K, V); N]) -> Self {
        members.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Context {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self(members.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The policy and the context of a call. The default is the policy of the credential, without a context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
}

impl Scope {
    /// The policy of the credential, without a context.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the policy that has this number.
    pub fn policy(mut self, number: impl Into<String>) -> Self {
        self.policy_number = Some(number.into());
        self
    }

    /// With this context.
    pub fn context(mut self, context: impl Into<Context>) -> Self {
        self.context = Some(context.into());
        self
    }

    pub(crate) fn policy_number(&self) -> Option<&str> {
        self.policy_number.as_deref()
    }

    pub(crate) fn bound_to(&self) -> Option<&Context> {
        self.context.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_the_same_after_it_was_text() {
        let text =
            r#"{"protected":"eyJ9","encrypted_key":"AA","iv":"AQ","ciphertext":"Ag","tag":"Aw"}"#;
        let envelope: Envelope = text.parse().unwrap();
        assert_eq!(envelope.to_string(), text);
        let foreign = text.replace('}', r#","header":{"epk":{"kty":"EC"}}}"#);
        assert_eq!(foreign.parse::<Envelope>().unwrap().to_string(), foreign);
    }

    #[test]
    fn a_scope_states_only_what_was_given() {
        let text = |scope: &Scope| serde_json::to_string(scope).unwrap();
        assert_eq!(text(&Scope::new()), "{}");
        let scope = Scope::new().policy("CARDS").context([("tenant", "acme"), ("record", "1")]);
        assert_eq!(
            text(&scope),
            r#"{"policyNumber":"CARDS","context":{"record":"1","tenant":"acme"}}"#
        );
    }
}
