//! The heads of the logs.

use std::time::Duration;

use super::key::SigningKey;
use formats::clock::Timestamp;
use formats::tlog::{Checkpoint, Hash};

/// The head of a log, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) origin: String,
    pub(super) size: u64,
    pub(super) root: Hash,
    pub(super) signed: Option<Signed>,
    /// The latest checkpoint with cosignatures.
    pub(super) cosigned: Option<Signed>,
}

/// The latest checkpoint of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) note: String,
    pub(super) size: u64,
    pub(super) at: Timestamp,
}

/// How long the checkpoint before is served until the latest one has cosignatures.
const PATIENCE: Duration = Duration::from_secs(10);

impl Head {
    /// The checkpoint for clients: one with cosignatures, if it is recent. Witnesses need some time.
    pub(super) fn served(self, now: Timestamp, keys: &[SigningKey]) -> Option<Signed> {
        // The login of the service can put an earlier note beside a later size.
        let is_own = |it: &Signed| self.opened(it, keys).is_some_and(|note| note.size == it.size);
        let cosigned = self.cosigned.as_ref().filter(|it| is_own(it)).cloned();
        let latest = self.signed?;
        let is_recent = |it: &Signed| {
            it.size == latest.size
                || (now.since(latest.at) <= PATIENCE
                    && it.at <= latest.at
                    && latest.at.since(it.at) <= PATIENCE)
        };
        Some(cosigned.filter(is_recent).unwrap_or(latest))
    }

    /// The latest checkpoint, if one of these keys signed it.
    pub(super) fn signed_by(&self, keys: &[SigningKey]) -> Option<Checkpoint> {
        self.opened(self.signed.as_ref()?, keys)
    }

    fn opened(&self, signed: &Signed, keys: &[SigningKey]) -> Option<Checkpoint> {
        let mut verifiers = keys.iter().filter_map(|key| key.verifier(&self.origin).ok());
        verifiers.find_map(|key| Checkpoint::open(&signed.note, &key).ok())
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { origin: self.origin.clone(), size: self.size, root: self.root }
    }
}
