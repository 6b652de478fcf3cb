//! Sessions: a secret in a cookie, its digest in the database, and the admin key or the person behind it.
//!
//! A session ends after 15 minutes without requests, after 12 hours, at sign-out, and when its key
//! becomes invalid or its person has no roles. A browser that is not signed in has a secret without a session, so that the
//! sign-in form has a form token too.

mod attempt;
mod cookie;
mod store;

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use moka::future::Cache;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use engine::auth::{Administrator, AtRest};
use engine::db::Pool;
use engine::ids::PersonId;
use engine::ratelimit::{Crowded, LookUp};
use formats::clock::{Entropy, Timestamp};

pub(super) use self::attempt::Attempt;
pub(super) use self::cookie::Transport;

/// The time without requests after which a session ends.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// The longest duration of a session.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The number of sessions and of unknown secrets that an instance remembers.
const REMEMBERED: u64 = 10_000;

/// How long an unknown secret costs no look-up.
const UNKNOWN_FOR: Duration = Duration::from_secs(1);

/// The digests of secrets that this instance has looked up. Valid sessions are looked up again with
/// each request, without waiting for a turn.
#[derive(Debug)]
pub(super) struct Sessions {
    valid: Cache<[u8; 32], ()>,
    unknown: Cache<[u8; 32], ()>,
}

/// The administrator behind a session.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holder {
    /// The holder of the admin key with this digest.
    Key(AtRest),
    /// A person who signed in.
    Person(PersonId),
}

/// A session cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotResumed {
    #[error(transparent)]
    Crowded(#[from] Crowded),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

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

    fn digest(&self) -> [u8; 32] {
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

/// Starts a session and deletes expired ones.
pub(super) async fn open(
    database: &Pool,
    now: Timestamp,
    secret: &Secret,
    administrator: &Administrator,
) -> sqlx::Result<()> {
    store::sweep(database, now.minus(IDLE), now.minus(LIFETIME)).await?;
    store::insert(database, secret.digest(), administrator, now).await
}

impl Sessions {
    /// The holder of a valid session, whose last use becomes now. The look-up of a new secret waits
    /// for its turn.
    ///
    /// # Errors
    /// The address has too many look-ups, or the database fails.
    pub(super) async fn resume(
        &self,
        database: &Pool,
        now: Timestamp,
        secret: &Secret,
        mut look_up: LookUp<'_>,
    ) -> Result<Option<Holder>, NotResumed> {
        let digest = secret.digest();
        if !self.valid.contains_key(&digest) {
            if self.unknown.contains_key(&digest) {
                return Ok(None);
            }
            look_up.turn().await?;
        }
        let (idle_since, began) = (now.minus(IDLE), now.minus(LIFETIME));
        let holder = store::touch(database, digest, now, idle_since, began).await?;
        if holder.is_some() {
            look_up.found();
            self.valid.insert(digest, ()).await;
        } else {
            self.valid.invalidate(&digest).await;
            self.unknown.insert(digest, ()).await;
        }
        Ok(holder)
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            valid: Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_live(LIFETIME)
                .build(),
            unknown: Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_live(UNKNOWN_FOR)
                .build(),
        }
    }
}

/// Whether the session of a browser is still valid.
pub(super) async fn is_valid(
    database: &Pool,
    now: Timestamp,
    secret: &Secret,
) -> sqlx::Result<bool> {
    let (idle_since, began) = (now.minus(IDLE), now.minus(LIFETIME));
    store::is_valid(database, secret.digest(), idle_since, began).await
}

/// Ends a session.
pub(super) async fn close(database: &Pool, secret: &Secret) -> sqlx::Result<()> {
    store::delete(database, secret.digest()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_token_belongs_to_one_browser_and_hides_its_secret() {
        let (one, other) = (
            Secret::generate(&Entropy::system()),
            Secret::generate(&Entropy::system()),
        );
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
