//! Authentication of credentials.

use std::net::IpAddr;
use std::sync::Arc;

use super::certificates::Certificates;
use super::credentials::{Credentials, PresentedCredential};
use super::denied::Denied;
use super::directory::Directory;
use super::frozen::EmergencySwitch;
use super::identity::{CredentialRefused, StoredKey};
use super::workloads::{Unusable, Workloads};
use super::{Admission, ApiKeyDigest, Caller, LastUse, Lifetime, store};
use crate::catalog::{Cache, Catalog, Topic};
use crate::client_certificates::ClientCertificate;
use crate::db::Pool;
use crate::settings::{Settings, Stage};
use formats::clock::Clock;

/// The maximum number of cached API keys.
const CAPACITY: u64 = 20_000;

/// Authenticates the requests of one instance.
pub struct Authenticator {
    clock: Clock,
    stage: Stage,
    keys: Cache<ApiKeyDigest, Arc<StoredKey>>,
    workloads: Workloads,
    certificates: Certificates,
    emergency: EmergencySwitch,
    last_use: LastUse,
}

impl Authenticator {
    /// An authenticator for the keys and the workloads in this database.
    pub fn new(
        clock: Clock,
        catalog: Catalog,
        pool: Pool,
        emergency: EmergencySwitch,
        settings: &Settings,
    ) -> Result<Self, Unusable> {
        let auth = &settings.auth;
        let directory = Arc::new(Directory::new(catalog.clone(), pool.clone()));
        let (known, database) = (catalog.clone(), pool.clone());
        let workloads =
            Workloads::new(clock.clone(), known, database, Arc::clone(&directory), auth)?;
        let (of_certificates, is_on) = (pool.clone(), auth.certificates);
        let certificates =
            Certificates::new(clock.clone(), catalog.clone(), of_certificates, directory, is_on);
        let topics = &[Topic::ApiKeys, Topic::Services, Topic::People];
        let read = move |at_rest| {
            let pool = pool.clone();
            async move { Ok(store::api_key(&pool, at_rest).await?.map(Arc::new)) }
        };
        Ok(Self {
            clock,
            stage: settings.environment,
            keys: Cache::new(catalog, topics, CAPACITY, read),
            workloads,
            certificates,
            emergency,
            last_use: LastUse::default(),
        })
    }

    /// The caller with these credentials and this address. A look-up of a new credential waits for its
    /// turn.
    pub async fn authenticate(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
        admission: &mut impl Admission,
    ) -> Result<Caller, Denied> {
        let certificate = &credentials.certificate;
        let caller = match credentials.presented()? {
            PresentedCredential::Key(key) => {
                let at_rest = key.at_rest();
                let known = self.keys.get_admitted(&at_rest, admission.turn()).await?;
                self.admit(&at_rest, known, client, certificate).await?
            }
            PresentedCredential::Token(token) => {
                let caller = self.workloads.authenticate(token, client, admission);
                self.used(caller.await?)
            }
            PresentedCredential::Certificate => {
                let caller = self.certificates.authenticate(certificate, client, admission);
                self.used(caller.await?)
            }
        };
        // The switch stops no administrator.
        let is_emergency = caller.service_id().is_some() && self.emergency.is_set().await?;
        Ok(caller.in_emergency(is_emergency))
    }

    /// Authenticates from the cache alone, which may be stale: for health checks during an outage.
    pub async fn recall(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
    ) -> Result<Caller, CredentialRefused> {
        let certificate = &credentials.certificate;
        match credentials.presented()? {
            PresentedCredential::Key(key) => {
                let at_rest = key.at_rest();
                let known = self.keys.remembered(&at_rest).await;
                self.admit(&at_rest, known, client, certificate).await
            }
            PresentedCredential::Token(token) => {
                let caller = self.workloads.recall(token, client).await?;
                Ok(self.used(caller))
            }
            PresentedCredential::Certificate => {
                let caller = self.certificates.recall(certificate, client).await?;
                Ok(self.used(caller))
            }
        }
    }

    /// The caller of a session that started with an API key. Only the digest of the key is kept. All
    /// checks apply again.
    pub async fn resume(
        &self,
        at_rest: ApiKeyDigest,
        client: IpAddr,
        certificate: &ClientCertificate,
    ) -> Result<Caller, Denied> {
        let known = self.keys.get(&at_rest).await?;
        Ok(self.admit(&at_rest, known, client, certificate).await?)
    }

    /// The workloads that authenticate with tokens.
    pub fn workloads(&self) -> &Workloads {
        &self.workloads
    }

    /// Uses of credentials that are not written yet.
    pub fn last_use(&self) -> &LastUse {
        &self.last_use
    }

    async fn admit(
        &self,
        at_rest: &ApiKeyDigest,
        known: Option<Arc<StoredKey>>,
        client: IpAddr,
        certificate: &ClientCertificate,
    ) -> Result<Caller, CredentialRefused> {
        let key =
            known.filter(|key| key.at_rest.matches(at_rest)).ok_or(CredentialRefused::Unknown)?;
        // An IPv4-mapped IPv6 address belongs to its IPv4 network.
        let client = client.to_canonical();
        let now = self.clock.now();
        if let Some(refusal) = key.refusal(now, self.stage, client) {
            return Err(refusal);
        }
        if key.certificate.is_some() {
            let verified = certificate.verified(now).await?;
            if verified.fingerprint != key.certificate {
                return Err(CredentialRefused::OtherCertificate);
            }
        }
        let lifetime = Lifetime { since: None, until: key.expires_at };
        Ok(self.used(Caller::new(Arc::clone(&key.identity), client).living(lifetime)))
    }

    /// Notes that the caller used its credential.
    fn used(&self, caller: Caller) -> Caller {
        let noted = caller.noted();
        self.last_use.note(caller.credential_id(), noted, self.clock.now());
        caller
    }
}
