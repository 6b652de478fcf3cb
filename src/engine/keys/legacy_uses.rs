//! What was opened and verified with algorithms below the floor.

use std::array;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::floor::{AnyAlgorithm, Floor};
use crate::operation::Operation;

/// The operations that the floor does not stop.
const OPERATIONS: [Operation; 3] = [Operation::Unprotect, Operation::Decrypt, Operation::Verify];

/// Counts them since the start of the process.
#[derive(Debug)]
pub(super) struct LegacyUses([[AtomicU64; AnyAlgorithm::COUNT]; OPERATIONS.len()]);

impl Default for LegacyUses {
    fn default() -> Self {
        Self(array::from_fn(|_| array::from_fn(|_| AtomicU64::new(0))))
    }
}

impl LegacyUses {
    /// Counts one `operation` with these algorithms under the first of them that is below the floor.
    pub(super) fn count(
        &self,
        floor: Floor,
        operation: Operation,
        algorithms: impl IntoIterator<Item = AnyAlgorithm>,
    ) {
        if floor.is_open() {
            return;
        }
        let below = algorithms.into_iter().find(|algorithm| floor.refuses(*algorithm));
        let counters = OPERATIONS.iter().position(|counted| *counted == operation);
        let counters = counters.and_then(|place| self.0.get(place));
        if let (Some(algorithm), Some(counters)) = (below, counters)
            && let Some(counter) = counters.get(algorithm.place())
        {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of each operation with each name of an algorithm below the floor.
    pub(super) fn counted(&self, floor: Floor) -> BTreeMap<(&'static str, Operation), u64> {
        let mut counted = BTreeMap::new();
        for algorithm in floor.refused() {
            for (operation, counters) in OPERATIONS.into_iter().zip(&self.0) {
                let uses = counters.get(algorithm.place());
                let uses = uses.map_or(0, |uses| uses.load(Ordering::Relaxed));
                // Keys and signatures can have the same name.
                *counted.entry((algorithm.name(), operation)).or_default() += uses;
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::algorithms::{Algorithm, SignatureScheme};
    use formats::envelope::Enc;

    #[test]
    fn only_uses_below_the_floor_count() {
        let (uses, floor) = (LegacyUses::default(), Floor::new(128, [], false));
        let rsa = |key: Algorithm| [AnyAlgorithm::from(key), Enc::A128GCM.into()];
        uses.count(floor, Operation::Unprotect, rsa(Algorithm::Rsa2048));
        uses.count(floor, Operation::Unprotect, rsa(Algorithm::Rsa3072));
        uses.count(floor, Operation::Protect, rsa(Algorithm::Rsa2048));
        let name = Algorithm::Rsa2048.name();
        let expected = [
            ((name, Operation::Unprotect), 1),
            ((name, Operation::Decrypt), 0),
            ((name, Operation::Verify), 0),
        ];
        assert_eq!(uses.counted(floor), BTreeMap::from(expected));
        assert!(uses.counted(Floor::default()).is_empty());
    }

    #[test]
    fn a_name_of_a_key_and_of_its_signatures_counts_once() {
        let floor = Floor::new(112, AnyAlgorithm::named("Ed25519"), false);
        let uses = LegacyUses::default();
        uses.count(
            floor,
            Operation::Verify,
            [Algorithm::Ed25519.into(), SignatureScheme::Ed25519.into()],
        );
        let counted = uses.counted(floor);
        assert_eq!(counted.len(), OPERATIONS.len());
        assert_eq!(counted[&("Ed25519", Operation::Verify)], 1);
    }
}
