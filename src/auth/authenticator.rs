//! Authentication of credentials.

use std::net::IpAddr;
use std::sync::Arc;

use super::denied::Denied;
use super::identity::{Refusal, StoredKey};
use super::workloads::Workloads;
use super::{AtRest, Caller, LastUse, LiveKey, store};
use crate::catalog::{Cache, Catalog, Topic};
use crate::clock::Clock;
use crate::db::Pool;
use crate::settings::Stage;

/// The maximum number of cached API keys.
const CAPACITY: u64 = 20_000;

/// Authenticates the requests of one instance.
#[derive(Debug)]
pub struct Authenticator {
    clock: Clock,
    stage: Stage,
    keys: Cache<AtRest, Arc<StoredKey>>,
    workloads: Workloads,
    last_use: LastUse,
}

/// A credential in an `Authorization` header.
enum Presented<'a> {
    Key(LiveKey),
    Token(&'a str),
}

impl Authenticator {
    /// An authenticator for the keys in this database, and for the tokens of workloads.
    #[must_use]
    pub fn new(
        clock: Clock,
        catalog: Catalog,
        pool: Pool,
        stage: Stage,
        workloads: Workloads,
    ) -> Self {
        let topics = &[Topic::ApiKeys, Topic::Services];
        let read = move |at_rest| {
            let pool = pool.clone();
            async move { Ok(store::api_key(&pool, at_rest).await?.map(Arc::new)) }
        };
        Self {
            clock,
            stage,
            keys: Cache::new(catalog, topics, CAPACITY, read),
            workloads,
            last_use: LastUse::default(),
        }
    }

    /// The caller with this `Authorization` header and address. A look-up of a new credential waits
    /// for `admission` first.
    ///
    /// # Errors
    /// The credential is not valid, the admission fails, or the database is unreachable.
    pub async fn authenticate(
        &self,
        authorization: Option<&[u8]>,
        client: IpAddr,
        admission: impl Future<Output = Result<(), Denied>> + Send,
    ) -> Result<Caller, Denied> {
        match presented(authorization)? {
            Presented::Key(key) => {
                let at_rest = key.at_rest();
                let known = self.keys.get_admitted(&at_rest, admission).await?;
                Ok(self.admit(&at_rest, known, client)?)
            }
            Presented::Token(token) => {
                let caller = self
                    .workloads
                    .authenticate(token, client, admission)
                    .await?;
                Ok(self.used(caller))
            }
        }
    }

    /// Authenticates from the cache alone, which may be stale: for health checks during an outage.
    ///
    /// # Errors
    /// The credential is not valid or not cached.
    pub async fn recall(
        &self,
        authorization: Option<&[u8]>,
        client: IpAddr,
    ) -> Result<Caller, Refusal> {
        match presented(authorization)? {
            Presented::Key(key) => {
                let at_rest = key.at_rest();
                let known = self.keys.remembered(&at_rest).await;
                self.admit(&at_rest, known, client)
            }
            Presented::Token(token) => {
                let caller = self.workloads.recall(token, client).await?;
                Ok(self.used(caller))
            }
        }
    }

    /// The caller of a session that started with an API key. Only the digest of the key is kept. All
    /// checks apply again.
    ///
    /// # Errors
    /// The key is no longer valid, or the database is unreachable.
    pub async fn resume(&self, at_rest: AtRest, client: IpAddr) -> Result<Caller, Denied> {
        let known = self.keys.get(&at_rest).await?;
        Ok(self.admit(&at_rest, known, client)?)
    }

    /// The workloads that authenticate with tokens.
    #[must_use]
    pub fn workloads(&self) -> &Workloads {
        &self.workloads
    }

    /// Uses of credentials that are not written yet.
    #[must_use]
    pub fn last_use(&self) -> &LastUse {
        &self.last_use
    }

    fn admit(
        &self,
        at_rest: &AtRest,
        known: Option<Arc<StoredKey>>,
        client: IpAddr,
    ) -> Result<Caller, Refusal> {
        let key = known
            .filter(|key| key.at_rest.matches(at_rest))
            .ok_or(Refusal::Unknown)?;
        // An IPv4-mapped IPv6 address belongs to its IPv4 network.
        let client = client.to_canonical();
        match key.refusal(self.clock.now(), self.stage, client) {
            Some(refusal) => Err(refusal),
            None => Ok(self.used(Caller::new(Arc::clone(&key.identity), client))),
        }
    }

    /// Notes that the caller used its credential.
    fn used(&self, caller: Caller) -> Caller {
        let noted = caller.noted();
        self.last_use
            .note(caller.credential_id(), noted, self.clock.now());
        caller
    }
}

/// The credential in `Bearer <credential>`. The scheme is case-insensitive (RFC 9110, section 11.1).
fn presented(authorization: Option<&[u8]>) -> Result<Presented<'_>, Refusal> {
    let value = authorization.ok_or(Refusal::Missing)?;
    let value = std::str::from_utf8(value).map_err(|_| Refusal::Malformed)?;
    let (scheme, credential) = value.split_once(' ').ok_or(Refusal::Malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::Malformed);
    }
    let credential = credential.trim_matches(' ');
    // API keys have no dots.
    if credential.contains('.') {
        return Ok(Presented::Token(credential));
    }
    let key = LiveKey::parse(credential).map_err(|_| Refusal::Malformed)?;
    Ok(Presented::Key(key))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::auth::Kind;
    use crate::clock::Entropy;

    #[test]
    fn a_key_is_read_after_its_scheme() {
        let key = LiveKey::generate(&Entropy::system(), Kind::Test);
        let key = key.expose_secret();
        for header in [format!("Bearer {key}"), format!("bearer   {key} ")] {
            let presented = presented(Some(header.as_bytes()));
            assert!(matches!(presented, Ok(Presented::Key(_))), "{header}");
        }
        let token = presented(Some(b"Bearer e30.e30.c2ln"));
        assert!(matches!(token, Ok(Presented::Token("e30.e30.c2ln"))));
        for bad in [
            key.to_owned(),
            format!("Basic {key}"),
            format!("Bearer\t{key}"),
            format!("Bearer {key} {key}"),
            "Bearer ".to_owned(),
            String::new(),
        ] {
            let refusal = presented(Some(bad.as_bytes())).err();
            assert_eq!(refusal, Some(Refusal::Malformed), "{bad}");
        }
        assert_eq!(presented(None).err(), Some(Refusal::Missing));
    }
}
