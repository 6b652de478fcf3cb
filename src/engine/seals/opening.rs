//! From the tokens to the row key.

use std::time::Duration;

use hsm::{HsmError, InternalSecret, Token};
use tokio::time::sleep;

use super::{RowKey, Seals};

/// The generation that a new token begins with.
const FIRST: u32 = 1;

/// How often tokens that are out are asked again.
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
}

impl Seals {
    /// Keeps the row key that the tokens derive. Names the tokens that derive another one.
    ///
    /// # Errors
    /// No token has it, or none that has it answers.
    pub async fn open(&self, token: &Token) -> Result<(), NotDerived> {
        let (mut out, mut first, mut without) = (None, None::<RowKey>, Vec::new());
        for (label, secrets) in token.internal_secrets().await {
            let derived = match secrets {
                Ok(secrets) => derived(&secrets),
                Err(error) => {
                    out = Some(error);
                    continue;
                }
            };
            match (&first, derived) {
                (_, None) => without.push(label),
                (None, derived) => first = derived,
                (Some(known), Some(other)) if known.fingerprint() != other.fingerprint() => {
                    tracing::error!(token = label, "the token derives another row key: {COPY}");
                }
                (Some(_), Some(_)) => {}
            }
        }
        for label in without.iter().filter(|_| first.is_some()) {
            tracing::warn!(token = label, "the token has no row key: {COPY}");
        }
        match (first, out) {
            (Some(key), _) => {
                self.unlock(key);
                Ok(())
            }
            (None, Some(error)) => Err(NotDerived::Out(error)),
            (None, None) => Err(NotDerived::Uninitialized),
        }
    }

    /// Keeps the row key as soon as a token answers.
    pub async fn open_when_possible(&self, token: &Token, alive: impl Fn()) {
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
}

/// What an operator does about a token without the key, or with another one.
const COPY: &str = "copy the internal keys of the first token to it with the vendor's tools";

/// Makes the internal key where no token has one. Returns whether it was made. Only one process at a time
/// does this.
pub async fn initialize(token: &Token, seals: &Seals) -> Result<bool, NotDerived> {
    match seals.open(token).await {
        Err(NotDerived::Uninitialized) => {
            let made = token.make_internal_secret(FIRST).await.map_err(NotDerived::Out)?;
            if let Some(key) = derived(&[made]) {
                seals.unlock(key);
            }
            Ok(true)
        }
        opened => opened.map(|()| false),
    }
}

fn derived(secrets: &[InternalSecret]) -> Option<RowKey> {
    RowKey::derive(secrets.iter().map(|secret| (secret.generation, secret.bytes.as_slice())))
}
