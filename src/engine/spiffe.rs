//! SPIFFE IDs and trust domains, as the SPIFFE-ID specification defines them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

const SCHEME: &str = "spiffe://";

/// The longest ID, in bytes.
const LONGEST: usize = 2_048;

/// The longest trust domain, in bytes.
const LONGEST_DOMAIN: usize = 255;

/// The ID of a workload, such as `spiffe://example.org/billing`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SpiffeId(String);

/// The name of a trust domain, such as `example.org`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrustDomain(String);

/// The text is not the ID of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the SPIFFE ID of a workload such as spiffe://example.org/billing")]
pub struct NotASpiffeId;

/// The text is not a trust domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a trust domain such as example.org: lower-case letters, digits, dots, dashes and underscores"
)]
pub struct NotATrustDomain;

impl SpiffeId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its trust domain.
    pub fn trust_domain(&self) -> &str {
        let rest = self.0.strip_prefix(SCHEME).unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }
}

/// The text must be canonical, because it is compared exactly. Signing certificates have IDs without a
/// path, so the ID of a workload has one.
impl FromStr for SpiffeId {
    type Err = NotASpiffeId;

    fn from_str(text: &str) -> Result<Self, NotASpiffeId> {
        let rest = text.strip_prefix(SCHEME).ok_or(NotASpiffeId)?;
        let (domain, path) = rest.split_once('/').ok_or(NotASpiffeId)?;
        let is_right =
            text.len() <= LONGEST && is_domain(domain) && path.split('/').all(is_segment);
        is_right.then(|| Self(text.to_owned())).ok_or(NotASpiffeId)
    }
}

impl TrustDomain {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TrustDomain {
    type Err = NotATrustDomain;

    fn from_str(text: &str) -> Result<Self, NotATrustDomain> {
        is_domain(text).then(|| Self(text.to_owned())).ok_or(NotATrustDomain)
    }
}

fn is_domain(text: &str) -> bool {
    let is_allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'_')
    };
    (1..=LONGEST_DOMAIN).contains(&text.len()) && text.bytes().all(is_allowed)
}

fn is_segment(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !matches!(text, "" | "." | "..") && text.bytes().all(is_allowed)
}

impl fmt::Display for SpiffeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SpiffeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SpiffeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SpiffeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Serialize for TrustDomain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TrustDomain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for SpiffeId {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The SPIFFE ID of a workload."))
            .pattern(Some("^spiffe://[a-z0-9._-]{1,255}(/[A-Za-z0-9._-]+)+$"))
            .max_length(Some(LONGEST))
            .into()
    }
}

impl ToSchema for SpiffeId {
    fn name() -> Cow<'static, str> {
        "SpiffeId".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_a_trust_domain_and_a_path() {
        let id: SpiffeId = "spiffe://example.org/ns/shop/sa/Cart_1.a-b".parse().unwrap();
        assert_eq!(id.trust_domain(), "example.org");
        let long = |length: usize| format!("spiffe://a/{}", "b".repeat(length - 11));
        assert!(long(LONGEST).parse::<SpiffeId>().is_ok());
        for wrong in [
            "",
            "spiffe://example.org",
            "spiffe://example.org/",
            "spiffe:///billing",
            "SPIFFE://example.org/billing",
            "spiffe://Example.org/billing",
            "spiffe://example.org:8080/billing",
            "spiffe://user@example.org/billing",
            "spiffe://example.org/billing/",
            "spiffe://example.org//billing",
            "spiffe://example.org/./billing",
            "spiffe://example.org/../billing",
            "spiffe://example.org/billing?a=b",
            "spiffe://example.org/billing#a",
            "spiffe://example.org/b%69lling",
            "spiffe://example.org/bïlling",
            "https://example.org/billing",
            &long(LONGEST + 1),
        ] {
            assert_eq!(wrong.parse::<SpiffeId>(), Err(NotASpiffeId), "{wrong}");
        }
        for wrong in ["", "Example.org", "example.org/", "spiffe://a", &"a".repeat(256)] {
            assert_eq!(wrong.parse::<TrustDomain>(), Err(NotATrustDomain), "{wrong}");
        }
    }
}
