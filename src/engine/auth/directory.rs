//! The identities of workloads, as one read sees them.

use std::collections::HashMap;
use std::sync::Arc;

use super::matching::Match;
use super::store;
use super::stored::WorkloadIdentity;
use crate::catalog::{Cache, Catalog, Topic, Unreadable};
use crate::db::Pool;
use crate::fingerprint::Fingerprint;
use crate::jwt::VerifiedToken;
use crate::spiffe::SpiffeId;

/// The identities, as one instance caches them.
///
/// The read that finds them also shows that none is missing. With two reads, a row could be away during one of
/// them, so that a credential which it refuses matches another identity.
pub(super) struct Directory(Cache<(), Option<Arc<Identities>>>);

/// The identities that are not deleted, disabled ones included, so that disabling one does not let another take
/// its place.
pub(super) struct Identities(HashMap<Criterion, Vec<WorkloadIdentity>>);

/// What a credential must have to match an identity.
#[derive(PartialEq, Eq, Hash)]
enum Criterion {
    Subject { issuer: String, subject: String },
    AnySubject { issuer: String },
    Spiffe(SpiffeId),
    Certificate(Fingerprint),
}

impl Directory {
    pub(super) fn new(catalog: Catalog, pool: Pool) -> Self {
        Self(Cache::new(catalog, &[Topic::Identities], 1, move |()| {
            let pool = pool.clone();
            async move {
                let mut connection = pool.acquire().await?;
                let rows = pool.rows_on(&mut connection);
                let (living, is_whole) = store::living_identities(rows).await?;
                Ok(Some(is_whole.then(|| Arc::new(Identities::of(living)))))
            }
        }))
    }

    /// The identities; none while the row of one is not valid. No workload authenticates then.
    pub(super) async fn identities(&self) -> Result<Option<Arc<Identities>>, Unreadable> {
        Ok(self.0.get(&()).await?.flatten())
    }
}

impl Identities {
    fn of(living: Vec<WorkloadIdentity>) -> Self {
        let mut by_criterion = HashMap::<_, Vec<_>>::new();
        for identity in living {
            by_criterion.entry(Criterion::of(&identity.r#match)).or_default().push(identity);
        }
        Self(by_criterion)
    }

    /// The one identity that matches the token.
    pub(super) fn of_token(&self, token: &VerifiedToken) -> Option<&WorkloadIdentity> {
        let (issuer, subject) = (token.issuer.clone(), token.subject.clone());
        let by_subject = Criterion::Subject { issuer: issuer.clone(), subject };
        let by_issuer = Criterion::AnySubject { issuer };
        let candidates = self.with(&by_subject).chain(self.with(&by_issuer));
        only(candidates.filter(|identity| match &identity.r#match {
            Match::Token(rule) => rule.matches(token),
            Match::Spiffe { .. } | Match::Certificate { .. } => false,
        }))
    }

    /// The one identity that matches a certificate with these names.
    pub(super) fn of_certificate(
        &self,
        fingerprint: Option<Fingerprint>,
        spiffe_id: Option<SpiffeId>,
    ) -> Option<&WorkloadIdentity> {
        let spiffe = spiffe_id.map(Criterion::Spiffe);
        let pinned = fingerprint.map(Criterion::Certificate);
        only(spiffe.iter().chain(&pinned).flat_map(|criterion| self.with(criterion)))
    }

    fn with(&self, criterion: &Criterion) -> impl Iterator<Item = &WorkloadIdentity> {
        self.0.get(criterion).into_iter().flatten()
    }
}

impl Criterion {
    fn of(rule: &Match) -> Self {
        match rule {
            Match::Token(rule) => {
                let issuer = rule.issuer().to_owned();
                match rule.subject() {
                    Some(subject) => Self::Subject { issuer, subject: subject.to_owned() },
                    None => Self::AnySubject { issuer },
                }
            }
            Match::Spiffe { spiffe_id } => Self::Spiffe(spiffe_id.clone()),
            Match::Certificate { certificate_sha256 } => Self::Certificate(*certificate_sha256),
        }
    }
}

/// The one item; none if there are several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
