//! Cryptography in the process of the program: sealing and the verification of signatures.

mod agreement;
mod canonical;
mod number;
mod seal;
mod verify;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::time::Instant;

pub use self::seal::SealingKey;
use crate::Client;
use crate::error::{Error, LocalError};
use crate::runtime::{JwkSet, PolicySummary};

/// How old a look-up can be.
const MOST_AGE: Duration = Duration::from_secs(60);

/// The policies and public keys of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    policies: Recent<PolicySummary>,
    keys: Recent<JwkSet>,
}

#[derive(Debug)]
struct Recent<T>(Mutex<HashMap<String, (Instant, Arc<T>)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Recent<T> {
    fn get(&self, name: &str) -> Option<Arc<T>> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked_at, value) = found.get(name)?;
        (asked_at.elapsed() < MOST_AGE).then(|| Arc::clone(value))
    }

    fn keep(&self, name: &str, asked_at: Instant, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.retain(|_, (asked_at, _)| asked_at.elapsed() < MOST_AGE);
        found.insert(name.to_owned(), (asked_at, Arc::clone(&value)));
        value
    }
}

impl Client {
    async fn recent_policy(&self, number: &str) -> Result<Arc<PolicySummary>, Error> {
        let policies = &self.lookups().policies;
        if let Some(known) = policies.get(number) {
            return Ok(known);
        }
        let asked_at = Instant::now();
        Ok(policies.keep(number, asked_at, self.policy(number).await?))
    }

    async fn recent_keys(&self, service_id: &str) -> Result<Arc<JwkSet>, Error> {
        let keys = &self.lookups().keys;
        if let Some(known) = keys.get(service_id) {
            return Ok(known);
        }
        let asked_at = Instant::now();
        Ok(keys.keep(service_id, asked_at, self.jwks(service_id).await?))
    }
}

/// The bytes of a member of a JWK.
fn member(text: Option<&String>) -> Result<Vec<u8>, LocalError> {
    let text = text.ok_or(LocalError::InvalidKey)?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| LocalError::InvalidKey)
}

/// An uncompressed point with coordinates of this length.
fn point(x: Option<&String>, y: Option<&String>, length: usize) -> Result<Vec<u8>, LocalError> {
    let (x, y) = (member(x)?, member(y)?);
    if x.len() != length || y.len() != length {
        return Err(LocalError::InvalidKey);
    }
    Ok([&[4], x.as_slice(), y.as_slice()].concat())
}
