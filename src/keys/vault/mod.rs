//! Objects in the token: made for a record that follows, and destroyed.
//!
//! An object comes first, its record after. What is about to be made is written down before the
//! token is asked, and crossed out in the transaction that records the key: whatever a crash leaves
//! in a token has either its record or its intent, and without a record nothing uses it.

mod adopt;
mod generate;
mod import;
mod made;
pub(super) mod store;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hsm::{ErrorKind, HsmError, KeyName, KeyRef, OaepHash};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Comparison, Usage, token_terms};
use crate::clock::{Clock, Entropy};
use crate::ids::{KeyId, ServiceId};
use crate::material::{Algorithm, Family};
use crate::problem::{Code, Problem};

pub use self::adopt::Described;
pub use self::import::Wrapped;
pub use self::made::{Made, NotMade};

/// The tokens, and what is under way in them.
#[derive(Clone, Debug)]
pub struct Vault {
    pub(super) token: hsm::Token,
    pub(super) pool: PgPool,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
    /// What the last comparison of tokens and records found.
    pub(super) latest: Arc<ArcSwap<Comparison>>,
}

/// For whom a key is made, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Destiny {
    /// The service it will belong to.
    pub service_id: ServiceId,
    /// What it will be used for.
    pub usage: Usage,
}

impl Vault {
    /// The vault of these tokens.
    #[must_use]
    pub fn new(token: hsm::Token, pool: PgPool, clock: Clock, entropy: Entropy) -> Self {
        Self {
            token,
            pool,
            clock,
            entropy,
            latest: Arc::default(),
        }
    }

    /// What the last comparison of tokens and records found here.
    #[must_use]
    pub fn latest(&self) -> Arc<Comparison> {
        self.latest.load_full()
    }

    /// The tokens themselves.
    #[must_use]
    pub fn token(&self) -> &hsm::Token {
        &self.token
    }

    /// Takes a key out of the token again that no record will name. What cannot be taken out now
    /// is found by the reconciler.
    pub async fn discard(&self, made: Made) {
        let key = made.token_key();
        // An adopted key was there before, and stays.
        if made.name != KeyName::Id(made.id.uuid().as_bytes().to_vec()) {
            return;
        }
        if let Err(error) = self.destroy(&key).await {
            tracing::warn!(key = %made.id, ?error, "a key that is not recorded stays in the token");
            return;
        }
        if let Err(error) = store::forget_intent(&self.pool, made.id.uuid()).await {
            tracing::warn!(key = %made.id, %error, "an intent is left for the reconciler");
        }
    }

    /// Destroys a key on every token. One that is on none of them is destroyed already.
    ///
    /// # Errors
    /// When a token does not do it.
    pub async fn destroy(&self, key: &KeyRef) -> Result<(), HsmError> {
        match self.token.destroy(key).await {
            Err(error) if error.kind() == ErrorKind::KeyMissing => Ok(()),
            outcome => outcome,
        }
    }

    async fn intend(&self, service: ServiceId) -> sqlx::Result<KeyId> {
        let id = KeyId::new(&self.clock, &self.entropy);
        let now = self.clock.now();
        store::intend(&self.pool, id.uuid(), store::Purpose::Key(service), now).await?;
        Ok(id)
    }

    /// Crosses the intent out where the token certainly made nothing. Where that is not certain it
    /// stays, and the reconciler looks.
    async fn or_forget<T, E: Into<NotMade>>(
        &self,
        id: Uuid,
        made: Result<T, E>,
    ) -> Result<T, NotMade> {
        let error: NotMade = match made {
            Ok(made) => return Ok(made),
            Err(error) => error.into(),
        };
        let certain = match &error {
            NotMade::Problem(_) | NotMade::Database(_) => true,
            NotMade::Token(error) => match error.kind() {
                ErrorKind::BadInput | ErrorKind::KeyMissing | ErrorKind::Busy => true,
                ErrorKind::TokenOut | ErrorKind::Late | ErrorKind::Refused => false,
            },
        };
        if certain {
            store::forget_intent(&self.pool, id).await?;
        }
        Err(error)
    }

    /// Refuses an envelope key of RSA where a token does not open what is sealed for it by default:
    /// every envelope would be lost.
    fn must_open(&self, usage: Usage, algorithm: Algorithm) -> Result<(), NotMade> {
        let is_for_oaep = usage == Usage::Enc && algorithm.family() == Family::Rsa;
        if is_for_oaep && !self.token.opens(OaepHash::Sha256) {
            return Err(NotMade::Problem(Problem::new(
                "algorithm",
                Code::Unsupported,
                "must be P-256, P-384 or P-521: a token has not shown that it opens RSA-OAEP with \
                 SHA-256, so envelopes for an RSA key would be lost",
            )));
        }
        Ok(())
    }

    async fn made(
        &self,
        id: KeyId,
        algorithm: Algorithm,
        key: KeyRef,
        public: Option<hsm::PublicKey>,
    ) -> Result<Made, NotMade> {
        let made = Made {
            id,
            algorithm,
            name: key.name,
            public: None,
        };
        let public = match public.map(token_terms::public_of) {
            Some(Ok(public)) => Some(public),
            None if algorithm.is_secret() => None,
            Some(Err(_)) | None => {
                self.discard(made).await;
                return Err(NotMade::Problem(no_public_half()));
            }
        };
        Ok(Made { public, ..made })
    }
}

fn unlike_half() -> NotMade {
    NotMade::Problem(Problem::new(
        "publicKey",
        Code::Conflict,
        "must be the public half of this key",
    ))
}

fn no_public_half() -> Problem {
    Problem::of_body(
        Code::Unsupported,
        "must be a key whose public half the token gives",
    )
}
