//! The rate limit of a caller, and the headers that report it.

use std::num::NonZeroU32;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::Engine;
use crate::auth::{Administrator, Caller, CallerId};
use crate::ratelimit::{BucketState, Exceeded, Rule, Scope};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

impl Engine {
    /// Takes one request from the caller's limit.
    pub async fn admit(&self, caller: &Caller) -> Result<BucketState, Exceeded> {
        let (scope, rule) = bucket(caller);
        self.limiter.take(scope, rule).await
    }

    /// Takes one request from the limit of an administrator.
    pub async fn admit_administrator(
        &self,
        administrator: &Administrator,
    ) -> Result<BucketState, Exceeded> {
        let (scope, rule) = bucket_of_administrator(administrator);
        self.limiter.take(scope, rule).await
    }

    /// The state of the limit of an administrator; takes nothing from it.
    pub(crate) async fn rate_limit_of_administrator(
        &self,
        administrator: &Administrator,
    ) -> BucketState {
        let (scope, rule) = bucket_of_administrator(administrator);
        self.limiter.look(scope, rule).await
    }

    /// Takes the items of a batch from the caller's limit, in exchange for the token that the request
    /// has taken, or nothing.
    pub(crate) async fn admit_items(
        &self,
        caller: &Caller,
        items: NonZeroU32,
    ) -> Result<BucketState, Exceeded> {
        let (scope, rule) = bucket(caller);
        self.limiter.exchange(scope, rule, items).await
    }

    /// The state of the caller's limit; takes nothing from it.
    pub async fn rate_limit(&self, caller: &Caller) -> BucketState {
        let (scope, rule) = bucket(caller);
        self.limiter.look(scope, rule).await
    }
}

/// Writes the state of a caller's limit into the headers of a response.
pub fn write_rate_limit(bucket: BucketState, headers: &mut HeaderMap) {
    headers.insert(LIMIT, HeaderValue::from(bucket.limit));
    headers.insert(REMAINING, HeaderValue::from(bucket.remaining));
    headers.insert(RESET, HeaderValue::from(bucket.reset));
}

fn bucket_of_administrator(administrator: &Administrator) -> (Scope, Rule) {
    let limit = administrator.rate_limit();
    let scope = match administrator.id() {
        CallerId::Credential(id) => Scope::AdminKey(id),
        CallerId::Person(id) => Scope::Person(id),
    };
    (scope, Rule::new(limit.requests_per_second, limit.burst))
}

fn bucket(caller: &Caller) -> (Scope, Rule) {
    let limit = caller.rate_limit();
    let scope =
        caller.service_id().map_or_else(|| Scope::AdminKey(caller.credential_id()), Scope::Service);
    (scope, Rule::new(limit.requests_per_second, limit.burst))
}
