//! Look-ups of unknown credentials and ids, which read the database for unauthenticated requests.
//!
//! An address looks up 1,000 at once. Further look-ups wait in a queue of 50, which advances by 50 a
//! second. A look-up that finds something does not count. Look-ups of all addresses use few connections.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::SemaphorePermit;

use super::{Limiter, Rule, Scope};

/// The number of look-ups that wait per address.
const QUEUE: u32 = 50;

/// The number of look-ups that use the database at the same time. Other work has the other connections.
pub(super) const AT_ONCE: usize = 2;

/// A look-up of one request.
#[derive(Debug)]
pub struct LookUp<'a> {
    limiter: &'a Limiter,
    scope: Scope,
    /// Its permit to use the database.
    turn: Option<SemaphorePermit<'a>>,
    /// Whether it counts.
    is_taken: bool,
}

/// The queue of the address is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address has too many look-ups of unknown credentials")]
pub struct Crowded;

impl Rule {
    /// The look-ups that an address may begin: at once and in the queue.
    const LOOK_UPS: Self = match NonZeroU32::new(Self::FAILURES.burst.get() + QUEUE) {
        Some(burst) => Self::new(Self::FAILURES.per_second, burst),
        None => Self::FAILURES,
    };
}

impl Limiter {
    /// A look-up for a request from this address. It counts from its turn on.
    #[must_use]
    pub fn look_up(&self, client: IpAddr) -> LookUp<'_> {
        LookUp {
            limiter: self,
            scope: Scope::Failures(client).widened(),
            turn: None,
            is_taken: false,
        }
    }
}

impl LookUp<'_> {
    /// Waits for the turn of the look-up.
    ///
    /// # Errors
    /// The queue of the address is full.
    pub async fn turn(&mut self) -> Result<(), Crowded> {
        let wait = self.queue()?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // The semaphore is never closed.
        self.turn = self.limiter.turns.acquire().await.ok();
        Ok(())
    }

    /// Takes a place in the queue and returns how long to wait.
    fn queue(&mut self) -> Result<Duration, Crowded> {
        let look_ups = &self.limiter.look_ups;
        let taken = look_ups.take(
            self.scope,
            Rule::LOOK_UPS,
            self.limiter.now(),
            NonZeroU32::MIN,
        );
        let level = taken.map_err(|_| Crowded)?;
        self.is_taken = true;
        let at_once = Duration::from_nanos(Rule::FAILURES.depth());
        Ok(level.full_in.saturating_sub(at_once))
    }

    /// The look-up found something, so it does not count.
    pub fn found(self) {
        if self.is_taken {
            let limiter = self.limiter;
            let look_ups = &limiter.look_ups;
            look_ups.give_back(self.scope, Rule::LOOK_UPS, limiter.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Timestamp};

    #[test]
    fn an_address_waits_for_its_look_ups_and_then_has_none() {
        let (crowded, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let clock = Clock::held_at(Timestamp::from_millis(1_000));
        let limiter = Limiter::new(clock.clone());
        let wait = |client| limiter.look_up(client).queue();
        for _ in 0..1_000 {
            assert_eq!(wait(crowded), Ok(Duration::ZERO));
        }
        let interval = Duration::from_millis(20);
        for place in 1..=QUEUE {
            assert_eq!(wait(crowded), Ok(interval * place));
        }
        assert_eq!(wait(crowded), Err(Crowded));
        assert_eq!(wait(other), Ok(Duration::ZERO));
        clock.advance(interval);
        assert_eq!(wait(crowded), Ok(interval * QUEUE));
        assert_eq!(wait(crowded), Err(Crowded));
    }

    #[test]
    fn a_look_up_that_finds_something_does_not_count() {
        let limiter = Limiter::new(Clock::held_at(Timestamp::from_millis(1_000)));
        let client = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..2_000 {
            let mut look_up = limiter.look_up(client);
            assert_eq!(look_up.queue(), Ok(Duration::ZERO));
            look_up.found();
        }
    }
}
