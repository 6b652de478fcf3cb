//! The trusted CAs, and the verification of a certificate for one request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use moka::future::Cache;
use rustls::DistinguishedName;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;

use super::chain::{Chain, unix_time};
use super::examined;
use crate::fingerprint::Fingerprint;
use crate::spiffe::{SpiffeId, TrustDomain};
use formats::clock::Timestamp;

/// The maximum number of cached certificates.
const CAPACITY: u64 = 20_000;

/// How long a verified certificate is not verified again.
const VERIFIED_FOR: Duration = Duration::from_secs(60);

/// The CAs of one purpose, with their revocation lists.
pub type Authority = Arc<dyn ClientCertVerifier>;

/// The trusted CAs of client certificates.
pub struct Trust {
    pub(super) provider: Arc<CryptoProvider>,
    /// Of `http.tls.client_ca`.
    pub(super) client_ca: Option<Authority>,
    domains: BTreeMap<TrustDomain, Authority>,
    /// The names of all CAs, as a hint for clients.
    pub(super) subjects: Vec<DistinguishedName>,
    /// The earliest expiry of a revocation list.
    lists_end: Option<Timestamp>,
    /// Verified certificates by the digests of their chains.
    verified: Cache<[u8; 32], Arc<VerifiedCertificate>>,
}

/// The trusted CAs as they were last loaded. Clones share them.
#[derive(Clone)]
pub struct CurrentTrust(Arc<ArcSwap<Trust>>);

/// A verified certificate, with the names for which its CA may vouch. It has at least one.
#[derive(Debug)]
pub struct VerifiedCertificate {
    /// Its fingerprint, if it leads to `http.tls.client_ca`.
    pub fingerprint: Option<Fingerprint>,
    /// Its SPIFFE ID, if it leads to a CA of the trust domain.
    pub spiffe_id: Option<SpiffeId>,
    /// The first expiry of what was verified.
    expires: Timestamp,
}

impl Trust {
    /// Trusts these CAs.
    pub fn new(
        provider: Arc<CryptoProvider>,
        client_ca: Option<Authority>,
        domains: BTreeMap<TrustDomain, Authority>,
        lists_end: Option<Timestamp>,
    ) -> Self {
        let subjects = client_ca.iter().chain(domains.values());
        let subjects = subjects.flat_map(|authority| authority.root_hint_subjects());
        Self {
            provider,
            subjects: subjects.cloned().collect(),
            client_ca,
            domains,
            lists_end,
            verified: Cache::builder().max_capacity(CAPACITY).time_to_live(VERIFIED_FOR).build(),
        }
    }

    /// The earliest expiry of a revocation list.
    pub fn lists_end(&self) -> Option<Timestamp> {
        self.lists_end
    }

    /// Whether a handshake would accept the certificate.
    pub fn accepts(&self, chain: &Chain, now: Timestamp) -> bool {
        self.verify_client_cert(&chain.own, &chain.intermediates, unix_time(now)).is_ok()
    }

    /// The result of an earlier verification that still holds.
    pub async fn known(&self, chain: &Chain, now: Timestamp) -> Option<Arc<VerifiedCertificate>> {
        let known = self.verified.get(&chain.digest()).await;
        known.filter(|known| now < known.expires)
    }

    /// The names for which the CA of the certificate may vouch; none if there are none.
    pub async fn verify(&self, chain: &Chain, now: Timestamp) -> Option<Arc<VerifiedCertificate>> {
        if let Some(known) = self.known(chain, now).await {
            return Some(known);
        }
        let verified = Arc::new(self.examine(chain, now)?);
        let kept = Arc::clone(&verified);
        self.verified.insert(chain.digest(), kept).await;
        Some(verified)
    }

    fn examine(&self, chain: &Chain, now: Timestamp) -> Option<VerifiedCertificate> {
        let Chain { own, intermediates, .. } = chain;
        let accepts = |authority: &Authority| {
            let verified = authority.verify_client_cert(own, intermediates, unix_time(now));
            verified.is_ok()
        };
        let is_client = self.client_ca.as_ref().is_some_and(accepts);
        let spiffe_id = examined::spiffe_id(own).filter(|id| {
            let mut domains = self.domains.iter();
            let domain = domains.find(|(domain, _)| domain.as_str() == id.trust_domain());
            domain.is_some_and(|(_, authority)| accepts(authority))
        });
        if !is_client && spiffe_id.is_none() {
            return None;
        }
        let mut expires = examined::expiry(own)?;
        for intermediate in intermediates {
            expires = expires.min(examined::expiry(intermediate)?);
        }
        Some(VerifiedCertificate {
            fingerprint: is_client.then(|| chain.fingerprint()),
            spiffe_id,
            expires: self.lists_end.map_or(expires, |end| end.min(expires)),
        })
    }

    pub(super) fn authorities(&self) -> impl Iterator<Item = &Authority> {
        self.client_ca.iter().chain(self.domains.values())
    }
}

impl CurrentTrust {
    /// Trusts these CAs until others replace them.
    pub fn new(trust: Arc<Trust>) -> Self {
        Self(Arc::new(ArcSwap::new(trust)))
    }

    /// Trusts other CAs from now on.
    pub fn replace(&self, trust: Arc<Trust>) {
        self.0.store(trust);
    }

    /// The CAs that are trusted now.
    pub fn load(&self) -> Arc<Trust> {
        self.0.load_full()
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust")
            .field("client_ca", &self.client_ca.is_some())
            .field("domains", &self.domains.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CurrentTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}
