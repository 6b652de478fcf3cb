//! How much a caller may ask: the tiers and what they mean.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token bucket: its size, and how fast it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Tokens that come back each second.
    #[schema(value_type = i32, minimum = 1)]
    pub requests_per_second: NonZeroU32,
    /// Tokens in a full bucket.
    #[schema(value_type = i32, minimum = 1)]
    pub burst: NonZeroU32,
}

/// What a service has been sold.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema,
)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Tier {
    /// 100 requests a second, 200 at once.
    #[default]
    Standard,
    /// 500 requests a second, 1,000 at once.
    Professional,
    /// As agreed with the service.
    Enterprise,
}

impl RateLimit {
    /// What each administrator's key may ask.
    pub const OF_ADMINS: Self = Self::of(500, 1_000);

    const OF_STANDARD: Self = Self::of(100, 200);
    const OF_PROFESSIONAL: Self = Self::of(500, 1_000);

    const fn of(requests_per_second: u32, burst: u32) -> Self {
        const fn positive(number: u32) -> NonZeroU32 {
            match NonZeroU32::new(number) {
                Some(number) => number,
                None => NonZeroU32::MIN,
            }
        }
        Self {
            requests_per_second: positive(requests_per_second),
            burst: positive(burst),
        }
    }
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Professional, Self::Enterprise];

    /// Its name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Professional => "professional",
            Self::Enterprise => "enterprise",
        }
    }

    /// The limit this tier brings by itself; none where each service has its own.
    #[must_use]
    pub const fn rate_limit(self) -> Option<RateLimit> {
        match self {
            Self::Standard => Some(RateLimit::OF_STANDARD),
            Self::Professional => Some(RateLimit::OF_PROFESSIONAL),
            Self::Enterprise => None,
        }
    }

    /// The limit of a service of this tier for which `agreed` was agreed. Only the highest tier has
    /// one; should it be missing, the next lower one holds.
    #[must_use]
    pub fn rate_limit_with(self, agreed: Option<RateLimit>) -> RateLimit {
        self.rate_limit()
            .or(agreed)
            .unwrap_or(RateLimit::OF_PROFESSIONAL)
    }
}
