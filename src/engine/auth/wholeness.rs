//! Whether all workload identities are there.

use crate::catalog::{Cache, Catalog, Topic, Unreadable};
use crate::db::Pool;

use super::store;

/// Whether the row of every identity is valid, as one instance caches it. While one is not, a credential that
/// it refuses could match another identity, so that no workload authenticates.
pub(super) struct Wholeness(Cache<(), bool>);

impl Wholeness {
    pub(super) fn new(catalog: Catalog, pool: Pool) -> Self {
        Self(Cache::new(catalog, &[Topic::Identities], 1, move |()| {
            let pool = pool.clone();
            async move { Ok(Some(store::identities_are_whole(&pool).await?)) }
        }))
    }

    /// Whether workloads can authenticate.
    pub(super) async fn holds(&self) -> Result<bool, Unreadable> {
        Ok(self.0.get(&()).await?.unwrap_or(false))
    }
}
