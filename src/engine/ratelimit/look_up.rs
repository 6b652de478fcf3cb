//! Look-ups of unknown credentials and ids, which read the database for unauthenticated requests.
//!
//! An address looks up 1,000 at once. Further look-ups wait in a queue of 50, which advances by 50 a
//! second. A look-up that finds something does not count. Look-ups of all addresses use few connections, for
//! which the networks take turns: a network with many look-ups delays one of another network by one.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use super::{Limiter, Rule, Scope, network_of};
use crate::shares::Share;

/// The number of look-ups that wait per address.
const QUEUE: u32 = 50;

/// A look-up of one request.
#[derive(Debug)]
pub struct LookUp<'a> {
    limiter: &'a Limiter,
    network: IpAddr,
    /// Its permit to use the database.
    turn: Option<Share<IpAddr>>,
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
    /// A look-up for a request from this address, which does not count yet.
    pub fn look_up(&self, client: IpAddr) -> LookUp<'_> {
        LookUp { limiter: self, network: network_of(client), turn: None, is_taken: false }
    }
}

impl LookUp<'_> {
    /// Counts the look-up, at most once, and waits in the queue of the address. It then may do work without
    /// the database.
    pub async fn counted(&mut self) -> Result<(), Crowded> {
        if self.is_taken {
            return Ok(());
        }
        let wait = self.queue()?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    /// Counts the look-up, and waits for its turn to use the database.
    pub async fn turn(&mut self) -> Result<(), Crowded> {
        self.counted().await?;
        self.turn = self.limiter.turns.take(Some(self.network), 1).await.ok();
        Ok(())
    }

    /// Takes a place in the queue and returns how long to wait.
    fn queue(&mut self) -> Result<Duration, Crowded> {
        let look_ups = &self.limiter.look_ups;
        let taken =
            look_ups.take(self.scope(), Rule::LOOK_UPS, self.limiter.now(), NonZeroU32::MIN);
        let level = taken.map_err(|_| Crowded)?;
        self.is_taken = true;
        let at_once = Duration::from_nanos(Rule::FAILURES.depth());
        Ok(level.full_in.saturating_sub(at_once))
    }

    fn scope(&self) -> Scope {
        Scope::Failures(self.network)
    }

    /// The look-up found something, so it does not count.
    pub fn found(self) {
        if self.is_taken {
            let limiter = self.limiter;
            let look_ups = &limiter.look_ups;
            look_ups.give_back(self.scope(), Rule::LOOK_UPS, limiter.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;
    use futures_util::stream::{FuturesUnordered, StreamExt as _};

    use super::*;
    use crate::shares::LOOK_UPS;
    use formats::clock::{Clock, Timestamp};

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

    #[tokio::test]
    async fn networks_with_many_look_ups_delay_another_by_one_each() {
        const BUSY: usize = 4;
        let limiter = Limiter::new(Clock::held_at(Timestamp::from_millis(1_000)));
        let served = async |last: usize| {
            let network = u8::try_from(last).unwrap();
            let mut look_up = limiter.look_up(IpAddr::from([192, 0, 2, network]));
            look_up.turn().await.unwrap();
            look_up
        };
        let mut busy: FuturesUnordered<_> = (0..BUSY * 8).map(|it| served(it % BUSY)).collect();
        let mut using = Vec::new();
        while let Poll::Ready(Some(look_up)) = poll!(busy.next()) {
            using.push(look_up);
        }
        assert_eq!(using.len(), LOOK_UPS.total);
        let mut other = pin!(served(BUSY));
        let mut before = 0;
        while poll!(&mut other).is_pending() {
            drop(using.remove(0));
            before += 1;
            while let Poll::Ready(Some(look_up)) = poll!(busy.next()) {
                using.push(look_up);
            }
        }
        // One connection becomes free for each network, and one for this look-up.
        assert!(before <= BUSY + 1, "{before}");
    }
}
