//! Authentication of workloads by tokens of their issuers.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use moka::future::Cache as Entries;
use sha2::{Digest as _, Sha256};

use super::caller::recorded_subject;
use super::denied::Denied;
use super::directory::Directory;
use super::identity::{CredentialRefused, Workload};
use super::{Admission, Caller, Lifetime, store};
use crate::catalog::{Cache, Catalog, Topic};
use crate::db::Pool;
use crate::jwt::{
    Issuer, Location, PublishedKeys, TokenPurpose, TokenRefused, TokenRules, Unverified,
    VerifiedToken,
};
use crate::settings::{Auth, AuthIssuer, NotInPem, certificates};
use formats::clock::Clock;

/// The maximum number of cached workloads of tokens.
const CAPACITY: u64 = 20_000;

/// The memory of verified tokens, in bytes. Issuers can add any claims to tokens.
const MEMORY: u64 = 64 * 1024 * 1024;

/// The maximum time for which a verified token is not verified again.
const VERIFIED_FOR: Duration = Duration::from_secs(10 * 60);

/// The workloads that authenticate with tokens.
pub struct Workloads {
    clock: Clock,
    issuers: Vec<Arc<Issuer>>,
    /// Verified tokens of known workloads by their digests.
    verified: Entries<[u8; 32], Arc<CachedToken>>,
    workloads: Cache<TokenKey, Arc<Workload>>,
}

/// The CA file of an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("auth.issuers: {} {source}", path.display())]
pub struct Unusable {
    path: PathBuf,
    source: NotInPem,
}

/// A verified token.
struct CachedToken {
    digest: [u8; 32],
    issuer: Arc<Issuer>,
    token: VerifiedToken,
    subject: Arc<str>,
    /// When it was verified, on the monotonic clock.
    at: Duration,
}

/// A verified token as the key of a cache: two are equal if their texts are. The cache does not keep the
/// token.
#[derive(Clone)]
struct TokenKey {
    digest: [u8; 32],
    verified: Weak<CachedToken>,
}

impl Workloads {
    /// The workloads in this database with tokens of the issuers in these settings.
    pub(super) fn new(
        clock: Clock,
        catalog: Catalog,
        pool: Pool,
        directory: Arc<Directory>,
        auth: &Auth,
    ) -> Result<Self, Unusable> {
        let issuers = auth.issuers.iter().map(|wanted| issuer(&clock, wanted));
        let read = move |key: TokenKey| {
            let (pool, directory) = (pool.clone(), Arc::clone(&directory));
            async move {
                // The request that needs the workload has the token.
                let verified = key.verified.upgrade().ok_or(sqlx::Error::WorkerCrashed)?;
                let identities = directory.identities().await?;
                let identity = identities.as_ref().and_then(|it| it.of_token(&verified.token));
                let Some(identity) = identity else { return Ok(None) };
                Ok(Some(Arc::new(store::workload(&pool, identity).await?)))
            }
        };
        Ok(Self {
            issuers: issuers.collect::<Result<_, _>>()?,
            verified: Entries::builder()
                .weigher(|_, verified: &Arc<CachedToken>| {
                    u32::try_from(verified.token.memory()).unwrap_or(u32::MAX)
                })
                .max_capacity(MEMORY)
                .time_to_live(VERIFIED_FOR)
                .build(),
            workloads: Cache::new(catalog, &[Topic::Identities, Topic::Services], CAPACITY, read),
            clock,
        })
    }

    /// The issuers of tokens.
    pub fn issuers(&self) -> impl Iterator<Item = &Issuer> {
        self.issuers.iter().map(|issuer| &**issuer)
    }

    /// The caller with this token. The verification of a new token counts for `admission`, and the look-up
    /// of its identity waits for its turn.
    pub(super) async fn authenticate(
        &self,
        token: &str,
        client: IpAddr,
        admission: &mut impl Admission,
    ) -> Result<Caller, Denied> {
        let digest = Sha256::digest(token).into();
        if let Some(known) = self.known(&digest).await {
            let key = TokenKey::of(&known);
            let workload = self.workloads.get_admitted(&key, admission.turn()).await?;
            return Ok(admit(&known, workload, client)?);
        }
        let unverified = Unverified::parse(token).map_err(CredentialRefused::from)?;
        let mut issuers = self.issuers.iter();
        let named = issuers.find(|issuer| issuer.name() == unverified.issuer());
        let issuer = named.ok_or(TokenRefused::Issuer).map_err(CredentialRefused::from)?;
        // The verification can wait for the issuer, so it takes no turn of others.
        admission.counted().await?;
        let verified = issuer.verify(unverified, self.clock.now()).await;
        let token = verified.map_err(CredentialRefused::from)?;
        let verified = Arc::new(CachedToken {
            digest,
            issuer: Arc::clone(issuer),
            subject: recorded_subject(&token.subject),
            token,
            at: self.clock.monotonic(),
        });
        let key = TokenKey::of(&verified);
        let workload = self.workloads.get_admitted(&key, admission.turn()).await?;
        let caller = admit(&verified, workload, client)?;
        self.verified.insert(digest, verified).await;
        Ok(caller)
    }

    /// Authenticates from the caches alone.
    pub(super) async fn recall(
        &self,
        token: &str,
        client: IpAddr,
    ) -> Result<Caller, CredentialRefused> {
        let known = self.known(&Sha256::digest(token).into()).await;
        let known = known.ok_or(CredentialRefused::Unknown)?;
        let workload = self.workloads.remembered(&TokenKey::of(&known)).await;
        admit(&known, workload, client)
    }

    /// A verified token that needs no verification yet.
    async fn known(&self, digest: &[u8; 32]) -> Option<Arc<CachedToken>> {
        let known = self.verified.get(digest).await?;
        let age = self.clock.monotonic().saturating_sub(known.at);
        let is_current = age < VERIFIED_FOR
            && self.clock.now() < known.token.refused_from
            && known.issuer.publishes(&known.token.key);
        is_current.then_some(known)
    }
}

/// The issuer in these settings. Its keys are not fetched yet.
pub fn issuer(clock: &Clock, settings: &AuthIssuer) -> Result<Arc<Issuer>, Unusable> {
    let authorities = settings
        .ca
        .as_ref()
        .map(|path| certificates(path).map_err(|source| Unusable { path: path.clone(), source }));
    let location = match &settings.jwks_url {
        Some(url) => Location::Url(url.clone()),
        None => Location::Discovery(settings.issuer.clone()),
    };
    let rules = TokenRules {
        issuer: settings.issuer.clone(),
        audiences: vec![settings.audience.clone()],
        algorithms: settings.algorithms.clone(),
        accepts_type: is_credential,
        purpose: TokenPurpose::Identity,
    };
    let keys = PublishedKeys::new(clock.clone(), location, authorities.transpose()?.as_deref());
    Ok(Arc::new(Issuer::new(rules, keys)))
}

/// Whether tokens of this type authenticate a workload. Other types, such as `logout+jwt`, have another
/// purpose.
fn is_credential(typ: Option<&str>) -> bool {
    typ.is_none_or(|typ| matches!(typ, "jwt" | "jose" | "at+jwt"))
}

fn admit(
    verified: &CachedToken,
    workload: Option<Arc<Workload>>,
    client: IpAddr,
) -> Result<Caller, CredentialRefused> {
    let workload = workload.ok_or(CredentialRefused::NoIdentity)?;
    let token = &verified.token;
    let lifetime = Lifetime { since: token.issued_at, until: Some(token.expires_at) };
    let caller = Caller::of_workload(&workload, Arc::clone(&verified.subject), client)?;
    Ok(caller.living(lifetime))
}

impl TokenKey {
    fn of(verified: &Arc<CachedToken>) -> Self {
        Self { digest: verified.digest, verified: Arc::downgrade(verified) }
    }
}

impl PartialEq for TokenKey {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for TokenKey {}

impl Hash for TokenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl fmt::Debug for CachedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verified([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_with_another_purpose_are_refused() {
        for typ in [None, Some("jwt"), Some("at+jwt"), Some("jose")] {
            assert!(is_credential(typ), "{typ:?}");
        }
        for typ in ["logout+jwt", "dpop+jwt", "secevent+jwt", ""] {
            assert!(!is_credential(Some(typ)), "{typ}");
        }
    }
}
