//! Identities: the address of a service and a policy, and no secret.
//!
//! An identity is the version 1, the URL and the number of the policy.

use age_core::primitives::bech32_encode;
use bech32::Hrp;

use crate::failure::Failure;
use crate::fields::{Reader, Writer, is_policy_number};

const VERSION: u8 = 1;
const PREFIX: Hrp = Hrp::parse_unchecked("age-plugin-sealward-");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) url: String,
    pub(crate) policy: String,
}

impl Identity {
    /// The message about other bytes.
    pub(crate) const UNKNOWN: &str =
        "this is not an identity of this version of age-plugin-sealward";

    pub(crate) fn new(url: &str, policy: &str) -> Result<Self, Failure> {
        let url = base(url);
        let is_visible = url.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_visible || url.contains('@') || !(1..=255).contains(&url.len()) {
            return Err(Failure::Url);
        }
        if !is_policy_number(policy) {
            return Err(Failure::PolicyNumber);
        }
        Ok(Self { url: url.to_owned(), policy: policy.to_owned() })
    }

    /// The identity with these bytes; none if they are not exactly those of an identity.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let identity = Self::new(reader.text()?, reader.text()?).ok()?;
        (identity.to_bytes()? == bytes).then_some(identity)
    }

    fn to_bytes(&self) -> Option<Vec<u8>> {
        let fields = Writer::new(&[VERSION]).text(&self.url)?.text(&self.policy)?;
        Some(fields.rest(&[]))
    }

    /// `AGE-PLUGIN-SEALWARD-1…`
    pub(crate) fn text(&self) -> String {
        let bytes = self.to_bytes().unwrap_or_default();
        bech32_encode(PREFIX, &bytes).to_uppercase()
    }
}

/// The form in which an identity has a URL.
pub(crate) fn base(url: &str) -> &str {
    url.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_comes_back() {
        let identity = Identity::new("https://sealward.example.com/", "PAYMENTS").unwrap();
        assert_eq!(identity.url, "https://sealward.example.com");
        let bytes = identity.to_bytes().unwrap();
        assert_eq!(Identity::from_bytes(&bytes), Some(identity));
    }

    #[test]
    fn the_text_of_version_1_stays_the_same() {
        let identity = Identity::new("https://sealward.example.com", "PAYMENTS").unwrap();
        let text = "AGE-PLUGIN-SEALWARD-1QYWXSAR5WPEN5TE0WDJKZMRHV9EXGTN90PSK6UR\
            VV5HXXMMDPPGYZK2DG489G5CKTSH46";
        assert_eq!(identity.text(), text);
    }

    #[test]
    fn other_bytes_are_refused() {
        let identity = Identity::new("https://x", "P").unwrap();
        let bytes = identity.to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert_eq!(Identity::from_bytes(&bytes[..length]), None, "{length}");
        }
        assert_eq!(Identity::from_bytes(&[&bytes[..], b"\0"].concat()), None);
        assert_eq!(Identity::from_bytes(&[&[2], &bytes[1..]].concat()), None);
        // The same address in another form.
        assert_eq!(Identity::from_bytes(b"\x01\x0ahttps://x/\x01P"), None);
    }

    #[test]
    fn an_identity_has_no_secret() {
        for url in ["https://user:password@x", "", "https://a b", "https://x\n"] {
            assert!(matches!(Identity::new(url, "P"), Err(Failure::Url)), "{url}");
        }
        assert!(matches!(Identity::new("https://x", "a b"), Err(Failure::PolicyNumber)));
    }
}
