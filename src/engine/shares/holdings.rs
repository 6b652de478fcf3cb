//! How much each owner has of an amount.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{OwnerLimit, ShareOwner};
use formats::turns::Offer;

/// An amount, and the parts of it that owners have.
#[derive(Debug)]
pub(super) struct Holdings<O> {
    free: usize,
    limit: OwnerLimit,
    of_owners: HashMap<O, usize>,
}

impl<O: ShareOwner> Holdings<O> {
    pub(super) fn new(total: usize, limit: OwnerLimit) -> Self {
        Self { free: total, limit, of_owners: HashMap::new() }
    }

    pub(super) fn free(&self) -> usize {
        self.free
    }

    /// Gives `amount` to `owner`, if it can be taken. Others can overtake an owner that is at its limit, but not
    /// one for which too little is free. Without an owner, no limit but the total applies.
    pub(super) fn take(&mut self, owner: Option<O>, amount: usize) -> Offer {
        let before = owner.and_then(|owner| self.of_owners.get(&owner).copied());
        let before = before.unwrap_or_default();
        let limit = match (owner, self.limit) {
            (None, _) | (_, OwnerLimit::Total) => usize::MAX,
            (_, OwnerLimit::AtMost(most)) => most,
            (_, OwnerLimit::HalfOfRest) => self.free.saturating_add(before) / 2,
        };
        let of_owner = before.saturating_add(amount);
        if of_owner > limit {
            return Offer::Skip;
        }
        let Some(free) = self.free.checked_sub(amount) else {
            return Offer::Stop;
        };
        self.free = free;
        if let Some(owner) = owner {
            self.of_owners.insert(owner, of_owner);
        }
        Offer::Take
    }

    /// Takes `amount` back, which `owner` has.
    pub(super) fn give_back(&mut self, owner: Option<O>, amount: usize) {
        self.free += amount;
        if let Some(owner) = owner
            && let Entry::Occupied(mut of_owner) = self.of_owners.entry(owner)
        {
            *of_owner.get_mut() -= amount;
            if *of_owner.get() == 0 {
                of_owner.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The amounts that six owners get, one after the other.
    fn greedy(holdings: &mut Holdings<usize>) -> [usize; 6] {
        std::array::from_fn(|owner| {
            let taken = (0..).take_while(|_| holdings.take(Some(owner), 1) == Offer::Take);
            taken.count()
        })
    }

    #[test]
    fn an_owner_gets_at_most_its_limit() {
        for (limit, expected) in [
            (OwnerLimit::Total, [64, 0, 0, 0, 0, 0]),
            (OwnerLimit::AtMost(24), [24, 24, 16, 0, 0, 0]),
            (OwnerLimit::HalfOfRest, [32, 16, 8, 4, 2, 1]),
        ] {
            let mut holdings = Holdings::new(64, limit);
            let amounts = greedy(&mut holdings);
            assert_eq!(amounts, expected, "{limit:?}");
            for (owner, amount) in amounts.into_iter().enumerate() {
                holdings.give_back(Some(owner), amount);
            }
            assert_eq!(holdings.free(), 64);
            assert!(holdings.of_owners.is_empty());
            assert_eq!(greedy(&mut holdings), expected, "{limit:?}");
        }
    }

    #[test]
    fn without_an_owner_only_the_total_is_a_limit() {
        let mut holdings = Holdings::<usize>::new(64, OwnerLimit::AtMost(1));
        assert_eq!(holdings.take(None, 63), Offer::Take);
        assert_eq!(holdings.take(None, 2), Offer::Stop);
        assert_eq!(holdings.take(Some(0), 2), Offer::Skip);
        assert_eq!(holdings.take(Some(0), 1), Offer::Take);
        assert_eq!(holdings.take(Some(1), 1), Offer::Stop);
        holdings.give_back(None, 63);
        assert_eq!(holdings.free(), 63);
    }

    #[test]
    fn no_amount_is_too_large_to_be_refused() {
        for limit in [OwnerLimit::Total, OwnerLimit::AtMost(64), OwnerLimit::HalfOfRest] {
            let mut holdings = Holdings::new(64, limit);
            assert_eq!(holdings.take(Some(0), 1), Offer::Take);
            assert_ne!(holdings.take(Some(0), usize::MAX), Offer::Take, "{limit:?}");
            assert_eq!(holdings.free(), 63);
        }
    }
}
