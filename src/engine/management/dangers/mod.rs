//! Warnings for administrators: risky states of policies, and keys that expire soon.

mod store;

use sqlx::FromRow;

use super::{Authorized, Error, ManageAdminKeys, ManageApiKeys, ReadResources};
use crate::auth::{Service, ServiceStatus};
use crate::db::Pool;
use crate::ids::{ApiKeyId, KeyId, PolicyId, ServiceId};
use crate::policy::{Policy, Verdict};
use formats::clock::Timestamp;

/// The maximum length of a list of warnings about policies.
const LISTED: usize = 50;

/// All warnings. Lists are limited; the most severe come first.
#[derive(Clone, Debug, Default)]
pub struct Dangers {
    /// Services whose operations are refused.
    pub frozen: Vec<Service>,
    /// Policies that do not protect, or return plaintext if they become inactive.
    pub policies: Vec<Policy>,
    /// Active policies whose destination has no matching key: `/protect` fails.
    pub keyless: Vec<Keyless>,
    /// The number of active policies that all services can use.
    pub open_to_all: i64,
    /// Keys that can leave their token.
    pub extractable_keys: Vec<Extractable>,
    /// Usable keys that expire soon.
    pub expiring_keys: Vec<Expiring<KeyId>>,
    /// API keys that expire soon.
    pub expiring_api_keys: Vec<Expiring<ApiKeyId>>,
}

/// A policy that cannot protect.
#[derive(Clone, Debug, FromRow)]
pub struct Keyless {
    /// Its identifier.
    pub id: PolicyId,
    pub policy_number: String,
    /// The service without a key.
    pub destination_service_id: ServiceId,
    /// The name of that service.
    pub destination: String,
}

/// A key that can leave its token.
#[derive(Clone, Debug, FromRow)]
pub struct Extractable {
    /// Its identifier.
    pub id: KeyId,
    pub name: String,
}

/// A resource that expires.
#[derive(Clone, Debug, FromRow)]
pub struct Expiring<I> {
    /// Its identifier.
    pub id: I,
    pub name: String,
    /// The expiry time.
    pub expires_at: Timestamp,
}

/// The keys that can leave their token and are not destroyed.
pub async fn extractable_keys(pool: &Pool) -> Result<Vec<Extractable>, Error> {
    Ok(store::extractable_keys(pool).await?)
}

/// The warnings about resources that the author can read. Keys are included if they expire before `soon`.
pub async fn find(context: &Authorized<ReadResources>, soon: Timestamp) -> Result<Dangers, Error> {
    let now = context.clock.now();
    let with_admin_keys = context.may::<ManageAdminKeys>();
    let expiring_api_keys = if context.may::<ManageApiKeys>() {
        store::expiring_api_keys(&context.pool, now, soon, with_admin_keys).await?
    } else {
        Vec::new()
    };
    Ok(Dangers {
        frozen: frozen(&context.pool).await?,
        policies: risky(store::policies(context.pool.rows()).await?),
        keyless: store::keyless(&context.pool).await?,
        open_to_all: store::open_to_all(&context.pool).await?,
        extractable_keys: extractable_keys(&context.pool).await?,
        expiring_keys: store::expiring_keys(&context.pool, soon).await?,
        expiring_api_keys,
    })
}

async fn frozen(pool: &Pool) -> sqlx::Result<Vec<Service>> {
    let mut frozen = store::possibly_frozen(pool.rows()).await?;
    frozen.retain(|service| service.status == ServiceStatus::Frozen);
    Ok(frozen)
}

/// The policies that do not protect, or return plaintext if they become inactive.
fn risky(mut policies: Vec<Policy>) -> Vec<Policy> {
    policies.retain(|it| it.verdict() != Verdict::Protect || it.fallback() == Verdict::PassThrough);
    policies.sort_by_key(|it| match it.verdict() {
        Verdict::PassThrough => 0,
        Verdict::Drop => 1,
        Verdict::Refuse | Verdict::Protect => 2,
    });
    policies.truncate(LISTED);
    policies
}
