//! The kinds of API key, told apart by their prefix.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::settings::Stage;

/// What an API key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Kind {
    /// The runtime API, in production.
    Live,
    /// The runtime API, for rehearsal.
    Test,
    /// The management API.
    Admin,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Live, Self::Test, Self::Admin];

    /// Its name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
            Self::Admin => "admin",
        }
    }

    /// What the keys of this kind begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Live => "sk_live_",
            Self::Test => "sk_test_",
            Self::Admin => "sk_admin_",
        }
    }

    /// Whether an instance of that stage takes keys of this kind at all.
    #[must_use]
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no kind of API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a kind of API key: live, test or admin")]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or(UnknownKind)
    }
}
