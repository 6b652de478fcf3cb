//! Secrets of browsers. The digest of a secret identifies a session. A browser that is not signed in has a
//! secret without a session, so that the sign-in form has a form token too.

mod attempt;
mod cookie;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use engine::auth::SessionDigest;
use formats::clock::Entropy;

pub(super) use self::attempt::Attempt;
pub(super) use self::cookie::Transport;

/// The secret of a browser. It wipes itself and is never shown.
#[derive(Clone)]
pub(super) struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    /// A new one.
    pub(super) fn generate(entropy: &Entropy) -> Self {
        Self(Zeroizing::new(entropy.bytes()))
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?);
        let bytes = bytes.as_slice().try_into().ok()?;
        Some(Self(Zeroizing::new(bytes)))
    }

    fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(self.0.as_slice()))
    }

    /// The form token of this browser. It does not reveal the secret.
    pub(super) fn form_token(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.derived(b"form"))
    }

    /// Whether a form of this browser carried `token`.
    pub(super) fn has_form_token(&self, token: &str) -> bool {
        self.form_token().as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// The digest that identifies its session.
    pub(super) fn digest(&self) -> SessionDigest {
        self.derived(b"session")
    }

    fn derived(&self, purpose: &[u8]) -> [u8; 32] {
        self.derived_for(purpose, b"")
    }

    fn derived_for(&self, purpose: &[u8], data: &[u8]) -> [u8; 32] {
        let digest = Sha256::new()
            .chain_update(purpose)
            .chain_update([0])
            .chain_update(data)
            .chain_update(self.0.as_slice());
        digest.finalize().into()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_token_belongs_to_one_browser_and_hides_its_secret() {
        let (one, other) =
            (Secret::generate(&Entropy::system()), Secret::generate(&Entropy::system()));
        assert!(one.has_form_token(&one.form_token()));
        for wrong in [other.form_token(), String::new(), one.text().to_string()] {
            assert!(!one.has_form_token(&wrong));
        }
        assert_ne!(one.derived(b"form"), one.digest());
        assert_eq!(format!("{one:?}"), "[redacted]");
    }

    #[test]
    fn a_secret_round_trips() {
        let secret = Secret::generate(&Entropy::system());
        let read = Secret::parse(&secret.text()).unwrap();
        assert_eq!(read.0, secret.0);
        for bad in ["", "AAAA", "not base64"] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }
}
