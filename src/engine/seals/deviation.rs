//! The rows that are not as the log of management events or the token says.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::RowName;
use formats::closed_set;

/// The number of deviations that are remembered. Whoever makes more of them is known by these.
const REMEMBERED: usize = 1_000;

closed_set! {
    /// How a row deviates.
    #[derive(PartialOrd, Ord)]
    pub enum Difference: "Difference" {
        /// No event made it.
        Added = "added",
        /// It is not as its last sealed event says.
        Changed = "changed",
        /// It is as an earlier sealed event says.
        RolledBack = "rolled_back",
        /// Its last sealed event says that it lives, and there is no such row.
        Removed = "removed",
        /// Its last event is not the one that was sealed.
        EventChanged = "event_changed",
        /// Its public key is not that of the private key in the token, or has another thumbprint.
        OtherPublicKey = "other_public_key",
    }
}

/// A row that deviates. It can have a valid seal: the owner of the database can put back rows together with
/// their revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The row.
    pub row: RowName,
    /// How it deviates.
    pub difference: Difference,
    /// The members that differ.
    pub members: Vec<String>,
}

/// The deviations that the last comparisons found.
#[derive(Debug, Default)]
pub(super) struct Deviations(Mutex<BTreeMap<(RowName, Difference), Deviation>>);

impl Deviations {
    /// Replaces those that events show.
    pub(super) fn replace(&self, found: &[Deviation]) {
        let mut known = self.lock();
        known.retain(|(_, difference), _| *difference == Difference::OtherPublicKey);
        for deviation in found.iter().take(REMEMBERED) {
            known.insert((deviation.row, deviation.difference), deviation.clone());
        }
    }

    /// Notes whether the token has the private key of a public key.
    pub(super) fn note_public_key(&self, row: RowName, is_other: bool) {
        let difference = Difference::OtherPublicKey;
        let mut known = self.lock();
        if !is_other {
            known.remove(&(row, difference));
        } else if known.len() < 2 * REMEMBERED {
            let members = vec!["publicKey".to_owned()];
            known.insert((row, difference), Deviation { row, difference, members });
        }
    }

    pub(super) fn all(&self) -> Vec<Deviation> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(RowName, Difference), Deviation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
