//! Jobs of several owners, which take turns.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Jobs that wait. Their owners take turns: a burst of one owner delays its own jobs first.
///
/// This orders jobs and holds nothing else: who can have how much, and who waits for it, is the matter of its
/// users.
#[derive(Debug)]
pub struct Turns<O, J> {
    jobs: HashMap<O, VecDeque<J>>,
    /// The owners that have jobs, the next one first.
    order: VecDeque<O>,
    len: usize,
}

/// What happens to the oldest job of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Its turn has come.
    Take,
    /// It waits, and others may overtake it.
    Skip,
    /// It waits, and all others wait for it.
    Stop,
}

impl<O, J> Default for Turns<O, J> {
    fn default() -> Self {
        Self { jobs: HashMap::new(), order: VecDeque::new(), len: 0 }
    }
}

impl<O: Copy + Eq + Hash, J> Turns<O, J> {
    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no job waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the newest job of `owner`.
    pub fn push(&mut self, owner: O, job: J) {
        let jobs = self.jobs.entry(owner).or_default();
        if jobs.is_empty() {
            self.order.push_back(owner);
        }
        jobs.push_back(job);
        self.len += 1;
    }

    /// The oldest job of the next owner.
    pub fn pop(&mut self) -> Option<J> {
        self.pop_if(|_| Offer::Take)
    }

    /// The oldest job of the first owner whose job is taken.
    pub fn pop_if(&mut self, mut offer: impl FnMut(&J) -> Offer) -> Option<J> {
        let mut place = 0;
        loop {
            let owner = *self.order.get(place)?;
            let jobs = self.jobs.get_mut(&owner)?;
            match offer(jobs.front()?) {
                Offer::Skip => place += 1,
                Offer::Stop => return None,
                Offer::Take => {
                    let job = jobs.pop_front();
                    self.order.remove(place);
                    if jobs.is_empty() {
                        self.jobs.remove(&owner);
                    } else {
                        self.order.push_back(owner);
                    }
                    self.len -= 1;
                    return job;
                }
            }
        }
    }

    /// Removes the newest job of the owner with the most, if it keeps more than `owner` then has.
    pub fn displace_for(&mut self, owner: O) -> Option<J> {
        let own = self.jobs.get(&owner).map_or(0, VecDeque::len);
        let most = self.jobs.values_mut().max_by_key(|jobs| jobs.len())?;
        if most.len() <= own + 1 {
            return None;
        }
        self.len -= 1;
        most.pop_back()
    }

    /// Removes all jobs but these.
    pub fn retain(&mut self, mut keep: impl FnMut(&J) -> bool) {
        for jobs in self.jobs.values_mut() {
            jobs.retain(&mut keep);
        }
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.order.retain(|owner| self.jobs.contains_key(owner));
        self.len = self.jobs.values().map(VecDeque::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs that are named by their owner and their place among its jobs.
    fn turns(owners: &[u32]) -> Turns<u32, (u32, usize)> {
        let mut turns = Turns::default();
        for (place, owner) in owners.iter().enumerate() {
            let before = owners.iter().take(place);
            turns.push(*owner, (*owner, before.filter(|it| *it == owner).count()));
        }
        turns
    }

    fn order(mut turns: Turns<u32, (u32, usize)>) -> Vec<(u32, usize)> {
        let order: Vec<_> = std::iter::from_fn(|| turns.pop()).collect();
        assert!(turns.is_empty() && turns.jobs.is_empty() && turns.order.is_empty());
        order
    }

    #[test]
    fn owners_take_turns_with_their_oldest_jobs() {
        let expected = [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2), (1, 3)];
        assert_eq!(order(turns(&[1, 1, 1, 1, 2, 3, 2])), expected);
    }

    #[test]
    fn a_skipped_owner_keeps_its_turn_and_a_stop_holds_all() {
        let mut turns = turns(&[1, 1, 2, 3]);
        assert_eq!(turns.pop_if(|_| Offer::Stop), None);
        let skip_1 = |job: &(u32, usize)| if job.0 == 1 { Offer::Skip } else { Offer::Take };
        assert_eq!(turns.pop_if(skip_1), Some((2, 0)));
        assert_eq!(turns.len(), 3);
        assert_eq!(order(turns), [(1, 0), (3, 0), (1, 1)]);
    }

    #[test]
    fn only_an_owner_with_more_jobs_is_displaced() {
        let mut turns = turns(&[1, 1, 1, 2]);
        assert_eq!(turns.displace_for(1), None);
        assert_eq!(turns.displace_for(2), Some((1, 2)));
        assert_eq!(turns.displace_for(2), None);
        assert_eq!(turns.displace_for(3), Some((1, 1)));
        assert_eq!(turns.len(), 2);
        assert_eq!(order(turns), [(1, 0), (2, 0)]);
    }

    #[test]
    fn removed_jobs_leave_the_turns_of_others() {
        let mut turns = turns(&[1, 2, 1, 3, 3]);
        turns.retain(|job| ![(1, 0), (1, 1), (3, 0)].contains(job));
        assert_eq!(turns.len(), 2);
        assert_eq!(order(turns), [(2, 0), (3, 1)]);
    }
}
