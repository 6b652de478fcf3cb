//! An administrator client that repeats each change until its result is known.

use std::time::Duration;

use axum::http::Method;
use rand::RngExt as _;
use rand::rngs::SmallRng;
use serde_json::{Value, json};

use super::client::{Client, Places, Sent, request};
use super::history::Incarnation;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// The maximum number of attempts. After that the result counts as unknown.
const ATTEMPTS: u32 = 600;

pub struct Administrator {
    client: Client,
    places: Places,
    key: String,
    rng: SmallRng,
}

/// The result of a change.
pub struct ChangeResult {
    pub status: u16,
    pub body: Value,
    /// The instance that made the change, if it was not made before.
    pub by: Option<Incarnation>,
}

impl Administrator {
    pub fn new(places: Places, key: &str, rng: SmallRng) -> Self {
        Self { client: Client::default(), places, key: key.to_owned(), rng }
    }

    pub async fn create(&mut self, path: &str, body: &Value) -> Option<Value> {
        let result = self.retry_until_known(Method::POST, path, body).await?;
        (result.status == 201).then_some(result.body)
    }

    /// Creates a resource that the run requires.
    pub async fn must_create(&mut self, path: &str, body: &Value) -> Value {
        let created = self.create(path, body).await;
        created.unwrap_or_else(|| panic!("{path} does not take {body}"))
    }

    pub async fn put(&mut self, path: &str, body: &Value) -> Option<ChangeResult> {
        let result = self.retry_until_known(Method::PUT, path, body).await?;
        (result.status == 200).then_some(result)
    }

    /// Deletes a resource without references. 404 on a later attempt means that an earlier one succeeded.
    pub async fn delete(&mut self, path: &str) -> Option<ChangeResult> {
        let result = self.retry_until_known(Method::DELETE, path, &json!(null)).await?;
        matches!(result.status, 204 | 404).then_some(result)
    }

    async fn retry_until_known(
        &mut self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Option<ChangeResult> {
        let mut is_first = true;
        for _ in 0..ATTEMPTS {
            let Some((to, sent)) = self.try_once(&method, path, body).await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            match sent {
                Sent::Not => {}
                Sent::Answered { status, body, .. } if status < 500 && status != 429 => {
                    return Some(ChangeResult {
                        status,
                        body: serde_json::from_str(&body).unwrap_or_default(),
                        by: is_first.then_some(to),
                    });
                }
                _ => is_first = false,
            }
            tokio::time::sleep(PAUSE).await;
        }
        None
    }

    async fn try_once(
        &mut self,
        method: &Method,
        path: &str,
        body: &Value,
    ) -> Option<(Incarnation, Sent)> {
        let places = self.places.now();
        let to = *places.get(self.rng.random_range(0..places.len().max(1)))?;
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let request = request(method.clone(), path, &self.key, body);
        Some((to.instance, self.client.send(to, request).await))
    }
}
