//! Rate limits and the tiers that define them.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::closed_set::ClosedSet;
use formats::closed_set;

/// The size of a token bucket and its refill rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Tokens that return to the bucket per second.
    #[schema(value_type = i32, minimum = 1)]
    pub requests_per_second: NonZeroU32,
    /// Tokens in a full bucket.
    #[schema(value_type = i32, minimum = 1)]
    pub burst: NonZeroU32,
}

closed_set! {
    /// The tier of a service, which determines its rate limit.
    #[derive(Default)]
    pub enum Tier: "Tier" {
        /// 100 requests a second, 200 at once.
        #[default]
        Standard = "standard",
        /// 500 requests a second, 1,000 at once.
        Professional = "professional",
        /// As agreed with the service.
        Enterprise = "enterprise",
    }
}

impl ClosedSet for Tier {}

impl RateLimit {
    /// The limit of each admin key.
    pub(crate) const OF_ADMINS: Self = Self::of(500, 1_000);

    /// The limit of a person without a role.
    pub(crate) const WITHOUT_ROLE: Self = Self::of(1, 20);

    const OF_STANDARD: Self = Self::of(100, 200);
    const OF_PROFESSIONAL: Self = Self::of(500, 1_000);

    const fn of(requests_per_second: u32, burst: u32) -> Self {
        const fn positive(number: u32) -> NonZeroU32 {
            match NonZeroU32::new(number) {
                Some(number) => number,
                None => NonZeroU32::MIN,
            }
        }
        Self { requests_per_second: positive(requests_per_second), burst: positive(burst) }
    }
}

impl Tier {
    /// The limit of this tier; none if each service has its own.
    pub const fn rate_limit(self) -> Option<RateLimit> {
        match self {
            Self::Standard => Some(RateLimit::OF_STANDARD),
            Self::Professional => Some(RateLimit::OF_PROFESSIONAL),
            Self::Enterprise => None,
        }
    }

    /// The limit of a service of this tier. Only `enterprise` uses `agreed`; without it, the limit of
    /// `professional` applies.
    pub(crate) fn rate_limit_with(self, agreed: Option<RateLimit>) -> RateLimit {
        self.rate_limit().or(agreed).unwrap_or(RateLimit::OF_PROFESSIONAL)
    }
}
