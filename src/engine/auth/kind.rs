//! The types of API key.

use crate::closed_set::ClosedSet;
use crate::settings::Stage;
use formats::closed_set;

closed_set! {
    /// The type of an API key.
    pub enum ApiKeyType: "ApiKeyType" {
        /// The runtime API in production.
        Live = "live",
        /// The runtime API in staging.
        Test = "test",
        /// The management API.
        Admin = "admin",
    }
}

impl ClosedSet for ApiKeyType {}

impl ApiKeyType {
    /// The prefix of keys of this type.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Live => "sk_live_",
            Self::Test => "sk_test_",
            Self::Admin => "sk_admin_",
        }
    }

    /// Whether an instance of that stage accepts keys of this type.
    pub const fn fits(self, stage: Stage) -> bool {
        match (self, stage) {
            (Self::Admin, _)
            | (_, Stage::Development)
            | (Self::Live, Stage::Production)
            | (Self::Test, Stage::Staging) => true,
            (Self::Live, Stage::Staging) | (Self::Test, Stage::Production) => false,
        }
    }
}
