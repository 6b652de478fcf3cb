//! PINs that tokens refused. Neither a restart nor another instance tries them again, because wrong
//! PINs lock a token and some tokens do not report them.
//!
//! Postgres has one byte of a MAC of each PIN, whose key is the name of the token. That is enough to recognize the PIN,
//! and it reveals at most 8 bits about a PIN: whoever writes to Postgres learns whether a byte is that of the right PIN, but
//! cannot choose another key. One in 256 other PINs counts as refused too, until `hsm.tokens.retry_pin` allows it.

mod store;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use hsm::{PinAttempt, PinMemory};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{Postgres, Transaction};
use tokio::runtime::Handle;

use crate::db::Pool;

/// The refused PINs in Postgres.
#[derive(Clone, Debug)]
pub struct RefusedPins {
    pool: Pool,
    runtime: Handle,
}

/// A token, as it names itself.
#[derive(Clone, Debug)]
struct TokenName {
    label: String,
    serial: String,
}

/// A refused PIN, as Postgres has it.
#[derive(Debug, PartialEq, Eq)]
struct RefusedPin {
    digest: u8,
}

/// The transaction of an attempt, which locks the token's refusals.
struct Attempt {
    runtime: Handle,
    token: TokenName,
    /// What to record if the token refuses the PIN; none if it is recorded.
    refusal: Option<RefusedPin>,
    has_refusals: bool,
    transaction: Option<Transaction<'static, Postgres>>,
}

impl RefusedPins {
    /// The refused PINs of this database. The current runtime runs its queries.
    pub fn new(pool: Pool) -> Self {
        Self { pool, runtime: Handle::current() }
    }
}

impl PinMemory for RefusedPins {
    fn begin(&self, token: &str, serial: &str, pin: &SecretString) -> Result<PinAttempt, String> {
        let token = TokenName { label: token.to_owned(), serial: serial.to_owned() };
        let begun = self.runtime.block_on(async {
            let mut transaction = self.pool.begin().await?;
            store::lock(&mut transaction, &token).await?;
            let refusals = store::list(&mut transaction, &token).await?;
            Ok((transaction, refusals))
        });
        let (transaction, refusals) = begun.map_err(|error: sqlx::Error| error.to_string())?;
        let refusal = RefusedPin::of(pin, &token);
        let is_refused = refusals.contains(&refusal);
        let mut attempt = Attempt {
            runtime: self.runtime.clone(),
            token,
            refusal: (!is_refused).then_some(refusal),
            has_refusals: !refusals.is_empty(),
            transaction: Some(transaction),
        };
        // After a second wrong PIN only an operator allows another attempt.
        let refused_another = !is_refused && refusals.len() == 1;
        Ok(PinAttempt {
            is_refused,
            refused_another,
            record: Box::new(move |accepted| attempt.record(accepted)),
        })
    }
}

impl RefusedPin {
    fn of(pin: &SecretString, token: &TokenName) -> Self {
        let name = [token.label.as_bytes(), b"\0", token.serial.as_bytes()].concat();
        let key = hmac::Key::new(HMAC_SHA256, &name);
        let mac = hmac::sign(&key, pin.expose_secret().as_bytes());
        Self { digest: mac.as_ref().first().copied().unwrap_or_default() }
    }
}

impl Attempt {
    fn record(&mut self, accepted: bool) {
        let Some(mut transaction) = self.transaction.take() else {
            return;
        };
        let (token, refusal) = (&self.token, self.refusal.as_ref());
        let recorded = self.runtime.block_on(async {
            match refusal {
                _ if accepted && self.has_refusals => {
                    store::forget(&mut transaction, token).await?;
                }
                Some(refusal) if !accepted => {
                    store::insert(&mut transaction, token, refusal).await?;
                }
                Some(_) | None => {}
            }
            transaction.commit().await
        });
        if let Err(error) = recorded {
            tracing::error!(token = token.label, %error, accepted, "the result of a login is not recorded");
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // A connection returns to its pool in a task of the runtime.
        let _runtime = self.runtime.enter();
        drop(self.transaction.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_recognizes_its_pin_for_its_token_only() {
        let pin = SecretString::from("1234");
        let token = |serial: u8| TokenName { label: "a".to_owned(), serial: serial.to_string() };
        let refusal = RefusedPin::of(&pin, &token(0));
        assert_eq!(RefusedPin::of(&pin, &token(0)), refusal);
        assert!((1..100).any(|serial| RefusedPin::of(&pin, &token(serial)) != refusal));
    }
}
