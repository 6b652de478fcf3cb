//! The keys of all services, from caches and in the token.

use std::collections::BTreeMap;
use std::sync::Arc;

use hsm::Token;

use super::usable::Usable;
use super::{Encryptions, JwkSet, LegacyUses, Versions, store};
use crate::catalog::{Cache, Catalog, Topic};
use crate::db::Pool;
use crate::floor::{AnyAlgorithm, Floor};
use crate::ids::{KeyId, ServiceId};
use crate::operation::Operation;
use formats::clock::Clock;

/// The maximum number of cached keys, and of services with cached keys.
const CAPACITY: u64 = 20_000;

/// The keys of all services, with caches.
///
/// A choice requires a permit:
///
/// ```
/// use sealward_engine::keys::{Keyring, NoKey};
/// use sealward_engine::policy::{Permit, to};
///
/// async fn choose(keyring: &Keyring, permit: &Permit<to::Sign>) -> Result<(), NoKey> {
///     keyring.choose(permit, None, &[]).await.map(drop)
/// }
/// ```
///
/// ```compile_fail,E0308
/// use sealward_engine::auth::Application;
/// use sealward_engine::keys::{Keyring, NoKey};
///
/// async fn choose(keyring: &Keyring, caller: &Application) -> Result<(), NoKey> {
///     keyring.choose(caller, None, &[]).await.map(drop)
/// }
/// ```
///
/// An envelope is only opened with the permission of its own policy too, which a [`PolicyPermit`](crate::policy::PolicyPermit) lacks:
///
/// ```compile_fail,E0308
/// use sealward_engine::keys::{Keyring, NoKey};
/// use sealward_engine::policy::{PolicyPermit, to};
///
/// async fn choose(keyring: &Keyring, permit: PolicyPermit<to::Unprotect>) -> Result<(), NoKey> {
///     keyring.to_unprotect(permit).await.map(drop)
/// }
/// ```
///
/// A permit is only good for the operation that it names:
///
/// ```compile_fail,E0599
/// use formats::algorithms::SignatureScheme;
/// use sealward_engine::keys::{Keyring, SignatureInput};
/// use sealward_engine::policy::{Permit, to};
///
/// async fn sign(keyring: &Keyring, permit: &Permit<to::Verify>) {
///     let Ok(key) = keyring.choose(permit, None, &[]).await else { return };
///     let _ = key.sign(SignatureScheme::Ed25519, SignatureInput::Message(b"message")).await;
/// }
/// ```
pub struct Keyring {
    pub(super) token: Token,
    pub(super) encryptions: Arc<Encryptions>,
    pub(super) clock: Clock,
    pub(super) floor: Floor,
    pub(super) legacy_uses: LegacyUses,
    /// By identifier. Missing keys are cached too, so that an unknown `kid` does not cost a query each
    /// time.
    pub(super) by_id: Cache<KeyId, Option<Arc<Usable>>>,
    /// The keys of a service that act by default, of those that take over from each other the latest activation
    /// first.
    pub(super) acting: Cache<ServiceId, Arc<[Arc<Usable>]>>,
    /// The envelope keys of a service that partners name by identifiers of their own.
    pub(super) by_partner_kid: Cache<ServiceId, Arc<[Arc<Usable>]>>,
    /// The keys of a service with a name. Names without keys are cached too.
    pub(super) versions: Cache<(ServiceId, String), Option<Arc<Versions>>>,
    /// The names of the keys of a service.
    pub(super) names: Cache<ServiceId, Arc<[String]>>,
    /// The published key set of a service, if it publishes one.
    pub(super) published: Cache<ServiceId, Arc<JwkSet>>,
}

impl Keyring {
    /// Reads records from `pool` and uses private keys in `token`.
    pub fn new(
        catalog: &Catalog,
        pool: &Pool,
        token: Token,
        encryptions: Arc<Encryptions>,
        clock: Clock,
        floor: Floor,
    ) -> Self {
        let (one, several, public) = (pool.clone(), pool.clone(), pool.clone());
        let (partners, versions, names) = (pool.clone(), pool.clone(), pool.clone());
        Self {
            token,
            encryptions,
            clock,
            floor,
            legacy_uses: LegacyUses::default(),
            by_id: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |id| {
                let pool = one.clone();
                async move {
                    let found = store::by_id(pool.rows(), id).await?;
                    Ok(Some(found.map(|key| Arc::new(Usable::of(&key)))))
                }
            }),
            acting: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |service| {
                let pool = several.clone();
                async move {
                    let found = store::acting_of(&pool, service).await?;
                    let usable = found.iter().map(|key| Arc::new(Usable::of(key)));
                    Ok(Some(usable.collect()))
                }
            }),
            by_partner_kid: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |service| {
                let pool = partners.clone();
                async move {
                    let found = store::named_by_partners(pool.rows(), service).await?;
                    let usable = found.iter().map(|key| Arc::new(Usable::of(key)));
                    Ok(Some(usable.collect()))
                }
            }),
            versions: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |named| {
                let (pool, (service, name)): (_, (_, String)) = (versions.clone(), named);
                async move {
                    let found = store::versions(&pool, service, &name).await?;
                    Ok(Some(found.map(Arc::new)))
                }
            }),
            names: Cache::new(catalog.clone(), &[Topic::Keys], CAPACITY, move |service| {
                let pool = names.clone();
                async move { Ok(Some(store::names(pool.rows(), service).await?.into())) }
            }),
            published: Cache::new(
                catalog.clone(),
                &[Topic::Services, Topic::Keys],
                CAPACITY,
                move |service| {
                    let pool = public.clone();
                    async move {
                        let keys = store::published(&pool, service).await?;
                        Ok(keys.map(|keys| Arc::new(JwkSet::of(&keys, floor))))
                    }
                },
            ),
        }
    }

    /// The number of operations that opened or verified with an algorithm below the floor, by its name.
    pub fn legacy_uses(&self) -> BTreeMap<(&'static str, Operation), u64> {
        self.legacy_uses.counted(self.floor)
    }

    /// Counts an operation that opened or verified with these algorithms, if one is below the floor.
    pub(crate) fn count_legacy_use(
        &self,
        operation: Operation,
        algorithms: impl IntoIterator<Item = AnyAlgorithm>,
    ) {
        self.legacy_uses.count(self.floor, operation, algorithms);
    }
}
