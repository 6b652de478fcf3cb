//! The resource, and how much it may ask.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Deref;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::{RateLimit, Tier};
use crate::closed_set::ClosedSet;
use crate::ids::ServiceId;
use crate::resource::{
    ColumnGroup, Columns, Deletable, Deprivable, Description, FieldInput, Member, Name, Positive,
    RequestBody as _, Value, object,
};
use crate::seals::What;
use crate::{request, resource};
use formats::clock::Timestamp;
use formats::closed_set;
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

resource! {
    /// An application that calls the API, or for which payloads are protected.
    pub struct Service(ServiceId) in "services", requested by ServiceRequest {
        /// Identifies the service to people. Unique.
        "Name" name: Name;
        /// The purpose and the operator of the service.
        "Description" description: Option<Description> = None;
        /// Whether the service is in use. All requests of a frozen service and all requests that need its keys
        /// under a policy are refused.
        "Status" status: ServiceStatus = ServiceStatus::default();
        /// Sets the rate limit.
        "Tier" tier: Tier = Tier::default();
        /// Required for `enterprise`. The other tiers determine it.
        #[sqlx(flatten)]
        "Rate limit" rate_limit: Limit = Limit::default();
        /// Publishes the public keys under `/.well-known/jwks/{id}`, so that partners can make
        /// envelopes for the service and verify its signatures.
        "Publish public keys" publish_keys: bool = false;
        @internal {
            /// The time of its deletion. Of a deleted service, the row stays.
            deleted_at: Option<Timestamp>;
        }
    }
}

impl Deletable for Service {
    fn deleted(self, at: Timestamp) -> Self {
        Self { deleted_at: Some(at), ..self }
    }
}

impl Deprivable for Service {
    const LOSES: Option<What> = Some(What::Frozen);

    fn deprive(&mut self, _at: Timestamp) {
        self.status = ServiceStatus::Frozen;
    }
}

closed_set! {
    /// Whether a service, or everything, is in use.
    #[derive(Default)]
    pub enum ServiceStatus: "ServiceStatus" {
        /// It is in use.
        #[default]
        Active = "active",
        /// Requests are refused.
        Frozen = "frozen",
    }
}

impl ClosedSet for ServiceStatus {}

request! {
    /// The rate limit of a service of the tier `enterprise`.
    pub struct RateLimitRequest: NewRateLimit {
        /// Tokens that return to the bucket per second.
        "Requests per second" requests_per_second: Positive;
        /// Tokens in a full bucket: requests at once after a pause.
        "Burst" burst: Positive;
    }
}

/// The rate limit of a service and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its tier sets it.
    OfTier(RateLimit),
    /// It was agreed with the service.
    Agreed(RateLimit),
}

impl ServiceRequest {
    /// The new service, as far as the request is right.
    pub(crate) fn new_service(
        self,
        id: ServiceId,
        now: Timestamp,
        problems: &mut Problems,
    ) -> Option<Service> {
        let (tier, limit) = (self.tier.clone(), self.rate_limit.clone());
        let service = self.create(id, now, problems);
        let tier = tier.or_default("tier", Some(Tier::default()), problems)?;
        let limit = effective_limit(tier, None, &limit, problems);
        Some(Service { rate_limit: limit?, ..service? })
    }

    /// The service after the change.
    pub(crate) fn changed_service(self, before: &Service, problems: &mut Problems) -> Service {
        let (is_wrong, limit) = (self.tier == Member::Wrong, self.rate_limit.clone());
        let mut after = self.update(before, problems);
        if !is_wrong
            && let Some(limit) = effective_limit(after.tier, Some(before), &limit, problems)
        {
            after.rate_limit = limit;
        }
        after
    }
}

/// The rate limit of a service of this tier. The tier sets it, except for `enterprise`, which needs
/// an individual limit. A request may repeat the current limit: a client that reads, edits
/// and sends back does.
fn effective_limit(
    tier: Tier,
    before: Option<&Service>,
    given: &Member<Limit>,
    problems: &mut Problems,
) -> Option<Limit> {
    const FIELD: &str = "rateLimit";
    if *given == Member::Wrong {
        return None;
    }
    let given = given.given().map(|limit| **limit);
    let Some(of_tier) = tier.rate_limit() else {
        let limit = given.or(before.and_then(|service| service.rate_limit.agreed()));
        if limit.is_none() {
            let message = "is required for the tier enterprise";
            problems.note(Problem::new(FIELD, Code::Required, message));
        }
        return limit.map(Limit::Agreed);
    };
    let shown = before.map(|service| *service.rate_limit);
    if given.is_some() && given != Some(of_tier) && given != shown {
        let message = "must be left out unless the tier is enterprise";
        problems.note(Problem::new(FIELD, Code::Conflict, message));
    }
    Some(Limit::OfTier(of_tier))
}

impl Limit {
    /// The limit that was agreed with the service.
    pub fn agreed(self) -> Option<RateLimit> {
        match self {
            Self::OfTier(_) => None,
            Self::Agreed(limit) => Some(limit),
        }
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::OfTier(Tier::default().rate_limit_with(None))
    }
}

impl Deref for Limit {
    type Target = RateLimit;

    fn deref(&self) -> &RateLimit {
        match self {
            Self::OfTier(limit) | Self::Agreed(limit) => limit,
        }
    }
}

impl Value for Limit {
    const INPUT: FieldInput = FieldInput::Object(RateLimitRequest::FIELDS);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        object(text, field, problems, |limit: RateLimitRequest| {
            Some(Self::Agreed(RateLimit {
                requests_per_second: limit.requests_per_second.given()?.0,
                burst: limit.burst.given()?.0,
            }))
        })
    }
}

impl Serialize for Limit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl PartialSchema for Limit {
    fn schema() -> RefOr<Schema> {
        RateLimit::schema()
    }
}

impl ToSchema for Limit {
    fn name() -> Cow<'static, str> {
        RateLimit::name()
    }
}

impl ColumnGroup for Limit {
    const COLUMNS: &'static [&'static str] = &["requests_per_second", "burst"];

    fn write(&self, columns: &mut Columns) {
        let number = |number: NonZeroU32| i64::from(number.get());
        let agreed = self.agreed();
        columns.set("requests_per_second", agreed.map(|limit| number(limit.requests_per_second)));
        columns.set("burst", agreed.map(|limit| number(limit.burst)));
    }
}

/// The tier is a member of the service.
impl<'r> FromRow<'r, PgRow> for Limit {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        let tier: Tier = row.try_get("tier")?;
        let agreed = rate_limit(row.try_get("requests_per_second")?, row.try_get("burst")?);
        Ok(match tier.rate_limit() {
            Some(limit) => Self::OfTier(limit),
            None => Self::Agreed(tier.rate_limit_with(agreed)),
        })
    }
}

/// The individual limit of a service.
fn rate_limit(requests_per_second: Option<i32>, burst: Option<i32>) -> Option<RateLimit> {
    let positive = |number: Option<i32>| NonZeroU32::new(u32::try_from(number?).ok()?);
    Some(RateLimit { requests_per_second: positive(requests_per_second)?, burst: positive(burst)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ResourceRequest;

    fn problems_of(body: &str) -> Vec<(String, Code)> {
        let body = Text::parse(body.as_bytes()).unwrap();
        let ResourceRequest { body: request, mut problems, .. } =
            ResourceRequest::<ServiceRequest>::to_create(body);
        let id = ServiceId::from_uuid(uuid::Uuid::nil());
        request.new_service(id, Timestamp::from_millis(0), &mut problems);
        let problems = problems.into_vec().into_iter();
        problems.map(|problem| (problem.field, problem.code)).collect()
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let body = r#"{
            "name": "", "description": 5, "tier": "gold", "publishKeys": "yes", "colour": "red",
            "rateLimit": {"burst": 0, "speed": 1}
        }"#;
        let expected = [
            ("colour", Code::Unknown),
            ("name", Code::Length),
            ("description", Code::Type),
            ("tier", Code::Unsupported),
            ("rateLimit.speed", Code::Unknown),
            ("rateLimit.requestsPerSecond", Code::Required),
            ("rateLimit.burst", Code::Range),
            ("publishKeys", Code::Type),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
        assert_eq!(problems_of(body), expected);
    }

    #[test]
    fn only_enterprise_has_a_custom_limit() {
        let with = |tier, limit| {
            problems_of(&format!(r#"{{"name": "n", "tier": "{tier}", "rateLimit": {limit}}}"#))
        };
        let own = r#"{"requestsPerSecond": 7, "burst": 9}"#;
        let of_standard = r#"{"requestsPerSecond": 100, "burst": 200}"#;
        let found = |code| vec![("rateLimit".to_owned(), code)];
        assert_eq!(with("enterprise", own), []);
        assert_eq!(with("enterprise", "null"), found(Code::Required));
        assert_eq!(with("standard", own), found(Code::Conflict));
        assert_eq!(with("standard", of_standard), []);
        assert_eq!(with("professional", "null"), []);
    }
}
