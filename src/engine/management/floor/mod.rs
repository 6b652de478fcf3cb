//! What a cryptographic floor stops, and whether all instances have the same one.

mod store;
mod watch;

use sqlx::FromRow;

pub use self::watch::FloorWatch;
use super::Error;
use crate::db::Pool;
use crate::floor::{Breach, Floor};
use crate::ids::{KeyId, PolicyId, ServiceId};
use formats::envelope::{Alg, Enc};
use formats::material::Algorithm;

/// The maximum length of a list.
const LISTED: i64 = 100;

/// What a floor stops. Lists are limited.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// The number of keys.
    pub keys_in_all: i64,
    /// Active keys that make nothing new.
    pub keys: Vec<StoppedKey>,
    /// Active policies under which nothing is protected.
    pub policies: Vec<(StoppedPolicy, Breach)>,
    /// Keys of Sealward itself that are weaker. They go on.
    pub own: Vec<OwnKey>,
}

/// An active key that makes nothing new.
#[derive(Clone, Debug, FromRow)]
pub struct StoppedKey {
    /// Its identifier.
    pub id: KeyId,
    pub name: String,
    pub service_id: ServiceId,
    /// The name of its service.
    pub service: String,
    pub algorithm: Algorithm,
    /// Whether it has a rotation, which stops.
    pub rotates: bool,
}

/// An active policy under which nothing is protected.
#[derive(Clone, Debug, FromRow)]
pub struct StoppedPolicy {
    /// Its identifier.
    pub id: PolicyId,
    pub policy_number: String,
    pub alg: Alg,
    pub enc: Enc,
    /// The algorithm of the key that would receive its envelopes.
    pub key: Option<Algorithm>,
}

/// Keys of Sealward itself with one purpose.
#[derive(Clone, Copy, Debug)]
pub struct OwnKey {
    pub purpose: &'static str,
    pub algorithm: Algorithm,
}

/// What `floor` stops now or would stop. `own` are the keys of Sealward itself.
pub async fn stopped_by(pool: &Pool, floor: Floor, own: &[OwnKey]) -> Result<Stopped, Error> {
    let refused = floor.refused_keys();
    let policies = store::policies(pool, floor).await?.into_iter();
    let policies = policies.filter_map(|policy| {
        let breach = policy.held_to(floor).err()?;
        Some((policy, breach))
    });
    let own = own.iter().filter(|key| floor.refuses(key.algorithm));
    Ok(Stopped {
        keys_in_all: store::count_keys(pool, &refused).await?,
        keys: store::keys(pool, &refused).await?,
        policies: policies.collect(),
        own: own.copied().collect(),
    })
}

/// The number of running instances with each floor, by its fingerprint. That of the default is empty.
pub async fn floors(pool: &Pool) -> Result<Vec<(String, i64)>, Error> {
    Ok(store::floors(pool).await?)
}

impl StoppedPolicy {
    fn held_to(&self, floor: Floor) -> Result<(), Breach> {
        floor.check(self.alg)?;
        floor.check(self.enc)?;
        self.key.map_or(Ok(()), |key| floor.check(key))
    }
}
