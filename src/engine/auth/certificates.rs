//! Authentication of workloads by client certificates.

use std::net::IpAddr;
use std::sync::Arc;

use super::caller::recorded_subject;
use super::denied::Denied;
use super::directory::Directory;
use super::identity::{CredentialRefused, Workload};
use super::{Admission, Caller, Match, store};
use crate::catalog::{Cache, Catalog, Topic};
use crate::client_certificates::{ClientCertificate, VerifiedCertificate};
use crate::db::Pool;
use crate::fingerprint::Fingerprint;
use crate::spiffe::SpiffeId;
use formats::clock::Clock;

/// The maximum number of cached workloads.
const CAPACITY: u64 = 20_000;

/// The workloads that authenticate with client certificates.
pub(super) struct Certificates {
    clock: Clock,
    /// Setting `auth.certificates`.
    is_on: bool,
    workloads: Cache<Names, KnownWorkload>,
}

/// The names that the CA of a certificate confirms.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Names {
    fingerprint: Option<Fingerprint>,
    spiffe_id: Option<SpiffeId>,
}

/// A workload, and the name that matches it.
#[derive(Clone)]
struct KnownWorkload {
    workload: Arc<Workload>,
    subject: Arc<str>,
}

impl Certificates {
    pub(super) fn new(
        clock: Clock,
        catalog: Catalog,
        pool: Pool,
        directory: Arc<Directory>,
        is_on: bool,
    ) -> Self {
        let read = move |names: Names| {
            let (pool, directory) = (pool.clone(), Arc::clone(&directory));
            async move {
                let identities = directory.identities().await?;
                let known = identities.as_ref().and_then(|it| {
                    let identity = it.of_certificate(names.fingerprint, names.spiffe_id)?;
                    Some((identity, subject(&identity.r#match)?))
                });
                let Some((identity, subject)) = known else { return Ok(None) };
                let workload = Arc::new(store::workload(&pool, identity).await?);
                Ok(Some(KnownWorkload { workload, subject }))
            }
        };
        let topics = &[Topic::Identities, Topic::Services];
        Self { clock, is_on, workloads: Cache::new(catalog, topics, CAPACITY, read) }
    }

    /// The caller with this certificate. The verification of a new certificate counts for `admission`, and
    /// the look-up of its identity waits for its turn.
    pub(super) async fn authenticate(
        &self,
        certificate: &ClientCertificate,
        client: IpAddr,
        admission: &mut impl Admission,
    ) -> Result<Caller, Denied> {
        if !self.is_on {
            return Err(CredentialRefused::Missing.into());
        }
        let now = self.clock.now();
        let known = certificate.known(now).await.map_err(CredentialRefused::from)?;
        let verified = match known {
            Some(verified) => verified,
            None => {
                admission.counted().await?;
                certificate.verified(now).await.map_err(CredentialRefused::from)?
            }
        };
        let names = Names::of(&verified);
        let workload = self.workloads.get_admitted(&names, admission.turn());
        let workload = workload.await?;
        Ok(admit(workload, client)?)
    }

    /// Authenticates from the cache alone.
    pub(super) async fn recall(
        &self,
        certificate: &ClientCertificate,
        client: IpAddr,
    ) -> Result<Caller, CredentialRefused> {
        if !self.is_on {
            return Err(CredentialRefused::Missing);
        }
        let verified = certificate.verified(self.clock.now()).await?;
        let names = Names::of(&verified);
        admit(self.workloads.remembered(&names).await, client)
    }
}

impl Names {
    fn of(verified: &VerifiedCertificate) -> Self {
        Self { fingerprint: verified.fingerprint, spiffe_id: verified.spiffe_id.clone() }
    }
}

/// The name of a certificate that a rule matches.
fn subject(rule: &Match) -> Option<Arc<str>> {
    match rule {
        Match::Spiffe { spiffe_id } => Some(recorded_subject(spiffe_id.as_str())),
        Match::Certificate { certificate_sha256 } => Some(certificate_sha256.to_string().into()),
        Match::Token(_) => None,
    }
}

fn admit(known: Option<KnownWorkload>, client: IpAddr) -> Result<Caller, CredentialRefused> {
    let KnownWorkload { workload, subject } = known.ok_or(CredentialRefused::NoIdentity)?;
    Caller::of_workload(&workload, subject, client)
}
