//! The key that a service signs or encrypts with unless a request names another one.

use sqlx::PgConnection;

use super::{Key, Usage, store};
use crate::clock::Timestamp;
use crate::ids::{KeyId, ServiceId};
use crate::material::{Algorithm, Family};

/// A key that a service may sign or encrypt with by default.
#[derive(Clone, Debug)]
pub struct DefaultKey {
    pub(super) id: KeyId,
    pub(super) service_id: ServiceId,
    pub(super) usage: Usage,
    /// The algorithms among which the latest activation decides.
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) activated_at: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl DefaultKey {
    /// The key, unless it is an envelope key: of those, one is active.
    #[must_use]
    pub fn of(key: &Key, now: Timestamp) -> Option<Self> {
        const RSA: [Algorithm; 3] = [Algorithm::Rsa2048, Algorithm::Rsa3072, Algorithm::Rsa4096];
        let algorithms = if key.algorithm.family() == Family::Rsa {
            RSA.to_vec()
        } else {
            vec![key.algorithm]
        };
        (key.usage != Usage::Enc).then(|| Self {
            id: key.id,
            service_id: key.service_id,
            usage: key.usage,
            algorithms,
            activated_at: key.activated_at,
            now,
        })
    }

    /// Whether it is the default, and another key becomes the default without it.
    ///
    /// # Errors
    /// The database fails.
    pub async fn has_substitute(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        store::has_substitute(connection, self).await
    }
}
