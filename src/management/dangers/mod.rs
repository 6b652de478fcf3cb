//! What administrators should look at: states that are allowed, and rarely meant.

mod store;

use sqlx::FromRow;

use super::{Context, Error};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, KeyId, PolicyId, ServiceId};
use crate::policy::{FailureMode, Status};

/// All there is to look at. Lists are bounded: the worst come first.
#[derive(Clone, Debug, Default)]
pub struct Dangers {
    /// Policies that do not protect, or would emit plaintext if they did not.
    pub policies: Vec<Doubtful>,
    /// Active policies whose destination has no key for them: protecting fails.
    pub keyless: Vec<Keyless>,
    /// How many active policies every service may use.
    pub open_to_all: i64,
    /// Keys in use that are to be replaced soon.
    pub expiring_keys: Vec<Expiring<KeyId>>,
    /// API keys that will be refused soon.
    pub expiring_api_keys: Vec<Expiring<ApiKeyId>>,
}

/// A policy in a state to look at.
#[derive(Clone, Debug, FromRow)]
pub struct Doubtful {
    /// Its identifier.
    pub id: PolicyId,
    /// Its number.
    pub policy_number: String,
    /// Whether it protects.
    pub status: Status,
    /// What it does otherwise.
    pub failure_mode: FailureMode,
}

/// A policy that cannot protect.
#[derive(Clone, Debug, FromRow)]
pub struct Keyless {
    /// Its identifier.
    pub id: PolicyId,
    /// Its number.
    pub policy_number: String,
    /// The service without a key.
    pub destination_service_id: ServiceId,
    /// The name of that service.
    pub destination: String,
}

/// Something that ends.
#[derive(Clone, Debug, FromRow)]
pub struct Expiring<I> {
    /// Its identifier.
    pub id: I,
    /// Its name.
    pub name: String,
    /// When.
    pub expires_at: Timestamp,
}

/// Everything to look at, with what ends before `soon`.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(context: &Context, soon: Timestamp) -> Result<Dangers, Error> {
    let now = context.clock.now();
    Ok(Dangers {
        policies: store::doubtful(&context.pool).await?,
        keyless: store::keyless(&context.pool).await?,
        open_to_all: store::open_to_all(&context.pool).await?,
        expiring_keys: store::expiring_keys(&context.pool, soon).await?,
        expiring_api_keys: store::expiring_api_keys(&context.pool, now, soon).await?,
    })
}
