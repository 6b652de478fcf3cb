//! Jobs of several callers in lanes that take turns.

use std::collections::{HashMap, VecDeque};

/// A job of a caller.
pub trait Queued {
    /// The lane in which it waits.
    fn lane(&self) -> u64;

    /// Whether its caller has gone.
    fn is_abandoned(&self) -> bool;
}

/// Jobs in lanes that take turns: a caller's burst delays its own jobs first.
#[derive(Debug)]
pub struct Lanes<J> {
    jobs: HashMap<u64, VecDeque<J>>,
    /// The lanes that have jobs, the next one first.
    turns: VecDeque<u64>,
    len: usize,
}

impl<J> Default for Lanes<J> {
    fn default() -> Self {
        Self {
            jobs: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
        }
    }
}

impl<J: Queued> Lanes<J> {
    /// The number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no job waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the newest job of its lane.
    pub fn push(&mut self, job: J) {
        let lane = job.lane();
        let jobs = self.jobs.entry(lane).or_default();
        if jobs.is_empty() {
            self.turns.push_back(lane);
        }
        jobs.push_back(job);
        self.len += 1;
    }

    /// The oldest job of the next lane, if it fulfils the condition.
    pub fn pop_if(&mut self, is_ready: impl FnOnce(&J) -> bool) -> Option<J> {
        let next = self.jobs.get(self.turns.front()?)?.front()?;
        if is_ready(next) { self.pop() } else { None }
    }

    /// The oldest job of the next lane.
    pub fn pop(&mut self) -> Option<J> {
        let lane = self.turns.pop_front()?;
        let jobs = self.jobs.get_mut(&lane)?;
        let job = jobs.pop_front()?;
        if jobs.is_empty() {
            self.jobs.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        self.len -= 1;
        Some(job)
    }

    /// Removes the newest job of the longest lane, if that lane stays longer than this one grows.
    pub fn displace_for(&mut self, lane: u64) -> Option<J> {
        let own = self.jobs.get(&lane).map_or(0, VecDeque::len);
        let longest = self.jobs.values_mut().max_by_key(|jobs| jobs.len())?;
        if longest.len() <= own + 1 {
            return None;
        }
        self.len -= 1;
        longest.pop_back()
    }

    /// Removes the jobs whose callers have gone.
    pub fn remove_abandoned(&mut self) {
        for jobs in self.jobs.values_mut() {
            jobs.retain(|job| !job.is_abandoned());
        }
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.turns.retain(|lane| self.jobs.contains_key(lane));
        self.len = self.jobs.values().map(VecDeque::len).sum();
    }
}
