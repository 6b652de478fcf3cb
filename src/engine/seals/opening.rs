//! From the tokens to the row key.

use std::time::{Duration, Instant};

use hsm::{HsmError, InternalSecret, Token};
use tokio::time::sleep;

use super::store::{endorsements, unused_generation};
use super::{RowKey, Seals};

/// How often tokens that are out are asked again, and how long a generation that no token has is not asked for
/// again.
const RETRY: Duration = Duration::from_secs(1);

/// Why there is no row key.
#[derive(Debug, thiserror::Error)]
pub enum NotDerived {
    /// Every token answers, and none has an internal key.
    #[error("the tokens have no row key: run `sealward init` once, after `sealward migrate`")]
    Uninitialized,
    /// The tokens that answer have no internal key, and others do not answer.
    #[error("no token with a row key answers: {}", .0.report())]
    Out(HsmError),
    /// The database does not say which generation seals.
    #[error("the generations of the row key cannot be read: {0}")]
    Database(#[from] sqlx::Error),
}

impl Seals {
    /// Keeps the row key that the tokens derive, and excludes tokens that derive another one.
    ///
    /// # Errors
    /// No token has it, or none that has it answers.
    pub async fn open(&self, token: &Token) -> Result<(), NotDerived> {
        let _ = self.0.token.set(token.clone());
        self.ask(token).await
    }

    /// Keeps the row key as soon as a token answers.
    pub(crate) async fn open_when_possible(&self, token: &Token, alive: impl Fn()) {
        let mut is_told = false;
        while !self.is_unlocked() {
            match self.open(token).await {
                Ok(()) => tracing::info!("a token answered: rows are verified from now on"),
                Err(error @ NotDerived::Uninitialized) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tracing::error!(%error, "rows cannot be verified");
                    }
                    sleep(RETRY).await;
                }
                Err(error) => {
                    tracing::debug!(%error, "rows cannot be verified yet");
                    sleep(RETRY).await;
                }
            }
            alive();
        }
    }

    /// Asks the tokens again: for new generations, and whether they derive the same key.
    pub async fn refresh(&self) {
        if let Some(token) = self.0.token.get()
            && let Err(error) = self.ask(token).await
        {
            tracing::debug!(%error, "the row key could not be derived again");
        }
    }

    /// Asks the tokens for a generation that this process does not know, unless it did so just now.
    pub(crate) async fn learn(&self, generation: u32) {
        let mut absent = self.0.absent.lock().await;
        absent.retain(|_, asked| asked.elapsed() < RETRY);
        if !self.lacks(generation) || absent.contains_key(&generation) {
            return;
        }
        self.refresh().await;
        if self.lacks(generation) {
            absent.insert(generation, Instant::now());
        }
    }

    async fn ask(&self, token: &Token) -> Result<(), NotDerived> {
        let former = self.current();
        let (mut out, mut found) = (None, former.clone());
        let endorsements = endorsements(&self.database()).await?;
        let (mut same, mut without) = (Vec::new(), Vec::new());
        for (place, (label, secrets)) in token.internal_secrets().await.into_iter().enumerate() {
            let derived = match secrets {
                Ok(secrets) => derived(&secrets),
                Err(error) => {
                    out = Some(error);
                    continue;
                }
            };
            let Some(derived) = derived else {
                without.push(label);
                token.exclude(place, None);
                continue;
            };
            let known = found.get_or_insert_with(|| derived.clone().into());
            let is_same = known.agrees_with(&derived) || known.endorses(&derived, &endorsements);
            let reason = (!is_same).then(|| format!("it derives another row key: {COPY}"));
            token.exclude(place, reason);
            if is_same {
                same.push(derived);
            }
        }
        // A token that is out can have a generation that the others lack.
        same.extend(former.as_deref().filter(|_| out.is_some()).cloned());
        // Warned of once.
        if former.is_none() && found.is_some() {
            for label in without {
                tracing::warn!(token = label, "the token has no row key: {COPY}");
            }
        }
        match (RowKey::union(same), found, out) {
            (Some(mut key), _, _) => {
                key.activate(&endorsements);
                self.unlock(key);
                Ok(())
            }
            (None, Some(_), _) => Ok(()),
            (None, None, Some(error)) => Err(NotDerived::Out(error)),
            (None, None, None) => Err(NotDerived::Uninitialized),
        }
    }
}

/// What an operator does about a token without the key, or with another one.
const COPY: &str = "copy the internal keys of the first token to it with the vendor's tools";

/// Makes the internal key where no token has one. Returns whether it was made. Only one process at a time
/// does this.
pub async fn initialize(token: &Token, seals: &Seals) -> Result<bool, NotDerived> {
    match seals.open(token).await {
        Err(NotDerived::Uninitialized) => {
            let next = unused_generation(&seals.database()).await?;
            token.make_internal_secret(next).await.map_err(NotDerived::Out)?;
            seals.open(token).await.map(|()| true)
        }
        opened => opened.map(|()| false),
    }
}

fn derived(secrets: &[InternalSecret]) -> Option<RowKey> {
    RowKey::derive(secrets.iter().map(|secret| (secret.generation, secret.bytes.as_slice())))
}
