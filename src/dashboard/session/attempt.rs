//! A sign-in with OpenID Connect in progress: `state`, `nonce` and the PKCE verifier.
//!
//! All three are derived from the secret of the browser, so that nothing is stored, any instance can
//! finish the sign-in, and only this browser can.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::Secret;
use engine::auth::SessionDigest;
use engine::auth::oidc::Prompt;
use formats::clock::{Entropy, Timestamp};

/// How long a sign-in may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The bytes of `state` before the page: a random number, the time and the prompt.
const HEAD: usize = 16 + 8 + 1;

/// The byte of a check without pages.
const CHECK: u8 = 1;

/// A sign-in in progress.
#[derive(Debug)]
pub(crate) struct Attempt {
    secret: Secret,
    /// The content of `state`: a random number, the time of the start, the prompt, and the page to show.
    content: Vec<u8>,
    started_at: Timestamp,
}

/// Why a sign-in cannot be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotResumable {
    #[error("the state was not issued to this browser")]
    Foreign,
    #[error("the sign-in took longer than 10 minutes")]
    Late,
}

impl Attempt {
    /// Starts a sign-in that shows `place` at its end.
    pub(crate) fn start(
        secret: Secret,
        entropy: &Entropy,
        now: Timestamp,
        (prompt, place): (Prompt, &str),
    ) -> Self {
        let random: [u8; 16] = entropy.bytes();
        let time = now.as_millis().to_be_bytes();
        let prompt = match prompt {
            Prompt::Pages => 0,
            Prompt::Nothing => CHECK,
        };
        let content = [random.as_slice(), &time, &[prompt], place.as_bytes()].concat();
        Self { secret, content, started_at: now }
    }

    /// The sign-in that this browser started with `state`.
    pub(crate) fn resume(
        secret: Secret,
        state: &str,
        now: Timestamp,
    ) -> Result<Self, NotResumable> {
        let (content, _) = state.split_once('.').ok_or(NotResumable::Foreign)?;
        let content = BASE64_URL_SAFE_NO_PAD.decode(content);
        let content = content.map_err(|_| NotResumable::Foreign)?;
        let started_at = start_of(&content).ok_or(NotResumable::Foreign)?;
        let attempt = Self { secret, content, started_at };
        if !bool::from(attempt.state().as_bytes().ct_eq(state.as_bytes())) {
            return Err(NotResumable::Foreign);
        }
        if started_at <= now.minus(PATIENCE) {
            return Err(NotResumable::Late);
        }
        Ok(attempt)
    }

    /// The value of `state`.
    pub(crate) fn state(&self) -> String {
        let content = BASE64_URL_SAFE_NO_PAD.encode(&self.content);
        format!("{content}.{}", self.derived(b"oidc state"))
    }

    /// The value of `nonce`.
    pub(crate) fn nonce(&self) -> String {
        self.derived(b"oidc nonce")
    }

    /// The PKCE verifier.
    pub(crate) fn verifier(&self) -> Zeroizing<String> {
        Zeroizing::new(self.derived(b"oidc verifier"))
    }

    /// The page to show at the end.
    pub(crate) fn place(&self) -> &str {
        let place = self.content.get(HEAD..).unwrap_or_default();
        std::str::from_utf8(place).unwrap_or_default()
    }

    /// Whether the provider could show pages.
    pub(crate) fn prompt(&self) -> Prompt {
        if self.content.get(24) == Some(&CHECK) { Prompt::Nothing } else { Prompt::Pages }
    }

    /// The digest of the session of the browser that started it.
    pub(crate) fn session(&self) -> SessionDigest {
        self.secret.digest()
    }

    /// The time of its start.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    fn derived(&self, purpose: &[u8]) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.secret.derived_for(purpose, &self.content))
    }
}

/// The time in the content of `state`.
fn start_of(content: &[u8]) -> Option<Timestamp> {
    let time = content.get(16..24)?.try_into().ok()?;
    Some(Timestamp::from_millis(i64::from_be_bytes(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }

    #[test]
    fn only_the_browser_that_started_a_sign_in_finishes_it_in_time() {
        let place = (Prompt::Nothing, "/dashboard/keys");
        let [ours, other] = [(); 2].map(|()| Secret::generate(&Entropy::system()));
        let begun = Attempt::start(ours.clone(), &Entropy::system(), now(), place);
        let state = begun.state();
        let resume = |secret: &Secret, state: &str, now| {
            Attempt::resume(secret.clone(), state, now).map(|attempt| attempt.nonce())
        };
        assert_eq!(resume(&ours, &state, now()), Ok(begun.nonce()));
        assert_eq!(resume(&other, &state, now()), Err(NotResumable::Foreign));
        let late = now().plus(PATIENCE);
        assert_eq!(resume(&ours, &state, late), Err(NotResumable::Late));
        let (content, tag) = state.split_once('.').unwrap();
        for wrong in ["", ".", content, &format!("A{state}"), &format!("{content}.{tag}A")] {
            assert_eq!(resume(&ours, wrong, now()), Err(NotResumable::Foreign), "{wrong}");
        }
        let resumed = Attempt::resume(ours, &state, now()).unwrap();
        assert_eq!((resumed.prompt(), resumed.place()), place);
        assert_eq!(*resumed.verifier(), *begun.verifier());
        assert_ne!(*begun.verifier(), begun.nonce());
    }

    #[test]
    fn each_sign_in_has_its_own_values() {
        let secret = Secret::generate(&Entropy::system());
        let [one, two] = [(); 2].map(|()| {
            let place = (Prompt::Pages, "/dashboard");
            let attempt = Attempt::start(secret.clone(), &Entropy::system(), now(), place);
            assert_eq!(attempt.prompt(), Prompt::Pages);
            (attempt.state(), attempt.nonce(), attempt.verifier().to_string())
        });
        assert!(one.0 != two.0 && one.1 != two.1 && one.2 != two.2);
    }
}
