//! The claims of a verified token.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::compact::Header;
use super::key_set::PublishedKey;
use super::refused::TokenRefused;
use super::rules::{TokenPurpose, TokenRules};
use formats::clock::Timestamp;
use formats::json::{Members, Text, ValueKind};

/// The tolerated difference between the clocks of an issuer and of this machine.
const LEEWAY: Duration = Duration::from_secs(60);

/// How long after its issue a logout token counts.
const LOGOUT: Duration = Duration::from_secs(10 * 60);

/// The most audiences of a token.
const AUDIENCES: usize = 100;

/// A token whose signature and claims are verified.
#[derive(Clone)]
pub struct VerifiedToken {
    pub issuer: String,
    /// Empty of a logout token that names only a session.
    pub subject: String,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The time from which the token is refused.
    pub refused_from: Timestamp,
    /// When it was issued, if it says so.
    pub issued_at: Option<Timestamp>,
    /// The type in lower case, without the prefix `application/`.
    pub typ: Option<String>,
    pub claims: Map<String, Value>,
    /// The key that verifies the signature.
    pub key: Arc<PublishedKey>,
}

impl VerifiedToken {
    /// Checks the claims of a token whose signature was verified with `key`.
    pub(super) fn check(
        rules: &TokenRules,
        header: Header,
        claims: &[u8],
        key: Arc<PublishedKey>,
        now: Timestamp,
    ) -> Result<Self, TokenRefused> {
        if !(rules.accepts_type)(header.typ.as_deref()) {
            return Err(TokenRefused::Type);
        }
        let text = Text::parse(claims).map_err(|_| TokenRefused::Claim)?;
        // Parsers disagree about duplicate names, so a token has none at any level.
        let Ok(Value::Object(all)) = text.tree() else {
            return Err(TokenRefused::Claim);
        };
        let mut members = Members::of(text, &["iss", "aud", "sub", "exp", "nbf", "iat"]);
        let is_logout = rules.purpose == TokenPurpose::Logout;
        let can_lack_subject = is_logout && !all.contains_key("sub");
        let issuer = members.required_string("iss");
        let subject = match can_lack_subject {
            true => Some("".into()),
            false => members.required_string("sub"),
        };
        let audiences = members.get("aud").and_then(audiences);
        let [expiry, start, issued] = ["exp", "nbf", "iat"].map(|name| members.get(name));
        let texts = members.finish(|| issuer.zip(subject));
        let (issuer, subject) = texts.map_err(|_| TokenRefused::Claim)?;
        if issuer != rules.issuer {
            return Err(TokenRefused::Issuer);
        }
        // Postgres has no texts with U+0000.
        if (subject.is_empty() && !can_lack_subject) || subject.contains('\0') {
            return Err(TokenRefused::Claim);
        }
        let audiences = audiences.ok_or(TokenRefused::Claim)?;
        if !audiences.iter().any(|it| rules.audiences.contains(it)) {
            return Err(TokenRefused::Audience);
        }
        let expiry = expiry.map(moment).transpose()?;
        let issued_at = issued.map(moment).transpose()?;
        let end = match rules.purpose {
            TokenPurpose::Identity => expiry.ok_or(TokenRefused::Claim)?,
            TokenPurpose::Logout => {
                let end = issued_at.ok_or(TokenRefused::Claim)?.plus(LOGOUT);
                expiry.map_or(end, |expiry| expiry.min(end))
            }
        };
        let refused_from = end.plus(LEEWAY);
        if refused_from <= now {
            return Err(TokenRefused::Expired);
        }
        for begin in [start, issued].into_iter().flatten() {
            if moment(begin)? > now.plus(LEEWAY) {
                return Err(TokenRefused::NotYetValid);
            }
        }
        Ok(Self {
            issuer: issuer.into_owned(),
            subject: subject.into_owned(),
            expires_at: end,
            refused_from,
            issued_at,
            typ: header.typ,
            claims: all,
            key,
        })
    }

    /// Its approximate memory, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + memory_of_members(&self.claims)
    }
}

/// The memory that a value has allocated.
fn memory_inside(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => {
            let inside = items.iter().map(memory_inside).sum::<usize>();
            items.capacity() * size_of::<Value>() + inside
        }
        Value::Object(members) => memory_of_members(members),
    }
}

/// A node of a map has space for eleven members, and at least five of them are used.
fn memory_of_members(members: &Map<String, Value>) -> usize {
    let nodes = members.len().div_ceil(5) * 11 * (size_of::<String>() + size_of::<Value>());
    let members = members.iter();
    let memory = members.map(|(name, value)| name.len() + memory_inside(value));
    nodes + memory.sum::<usize>()
}

/// Claims can have personal data.
impl fmt::Debug for VerifiedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token([redacted])")
    }
}

/// One audience or an array of them.
fn audiences(text: Text<'_>) -> Option<Vec<String>> {
    let string = |text: Text<'_>| Some(text.string()?.ok()?.into_owned());
    if text.kind() != ValueKind::Array {
        return Some(vec![string(text)?]);
    }
    text.elements(AUDIENCES)?.into_iter().map(string).collect()
}

/// A number of seconds since 1970 (RFC 7519, section 2), with or without a fraction.
fn moment(text: Text<'_>) -> Result<Timestamp, TokenRefused> {
    let seconds: f64 = serde_json::from_str(text.as_str()).map_err(|_| TokenRefused::Claim)?;
    // The conversion saturates, and so does the calendar.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "times beyond the calendar become its last one"
    )]
    Ok(Timestamp::from_millis((seconds * 1_000.0) as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_value_of_a_claim_counts() {
        let memory = |value| memory_inside(&value);
        let one = size_of::<Value>();
        assert_eq!(memory(json!(0)), 0);
        assert_eq!(memory(json!([0, null, true])), 3 * one);
        assert_eq!(memory(json!("text")), 4);
        // A map of one member has a whole node.
        let node = 11 * (one + size_of::<String>());
        assert_eq!(memory(json!({"name": ["text"]})), node + one + 8);
    }
}
