//! Which calls are repeated, and when.

use std::time::Duration;

use aws_lc_rs::rand;
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::{Error, ErrorKind};

/// The limits of the attempts of a call.
#[derive(Clone, Debug)]
pub(crate) struct Attempts {
    pub(crate) deadline: Duration,
    pub(crate) most: u32,
    pub(crate) longest_pause: Duration,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(30), most: 3, longest_pause: Duration::from_secs(10) }
    }
}

/// The longest random pause after the first attempt. It doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

impl Attempts {
    /// Begins a call with this deadline.
    pub(crate) fn begin(&self, deadline: Duration) -> Tries<'_> {
        Tries { limits: self, deadline, expires: Instant::now() + deadline, begun: 1 }
    }
}

/// The attempts of one call.
pub(crate) struct Tries<'a> {
    limits: &'a Attempts,
    deadline: Duration,
    expires: Instant,
    begun: u32,
}

impl Tries<'_> {
    /// The result of an attempt, or an error at the deadline.
    pub(crate) async fn within<T>(
        &self,
        attempt: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        timeout_at(self.expires, attempt).await.unwrap_or(Err(Error::Deadline(self.deadline)))
    }

    /// Waits until the next attempt. Returns the error if there is none.
    pub(crate) async fn wait_after(&mut self, error: Error) -> Result<(), Error> {
        let pause = self.pause_after(&error);
        let fits = pause.is_some_and(|pause| Instant::now() + pause < self.expires);
        match pause {
            Some(pause) if fits => {
                self.begun += 1;
                sleep(pause).await;
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn pause_after(&self, error: &Error) -> Option<Duration> {
        if self.begun >= self.limits.most {
            return None;
        }
        match error.kind() {
            ErrorKind::RateLimited | ErrorKind::Unavailable => {
                let stated = error.refusal().and_then(|refusal| refusal.retry_after);
                let stated = stated.map(|pause| pause.min(self.limits.longest_pause));
                Some(stated.unwrap_or_else(|| random_pause(self.begun)))
            }
            ErrorKind::ConnectionFailed => Some(random_pause(self.begun)),
            _ => None,
        }
    }
}

fn random_pause(attempt: u32) -> Duration {
    let mut random = [0; 2];
    // Without randomness, the pause is the shortest one.
    let _ = rand::fill(&mut random);
    let part = f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX);
    FIRST_PAUSE.saturating_mul(1 << attempt.saturating_sub(1).min(6)).mul_f64(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_stay_below_their_limit() {
        for attempt in 1..20 {
            let limit = FIRST_PAUSE * (1 << (attempt - 1).min(6));
            let pauses: Vec<_> = (0..200).map(|_| random_pause(attempt)).collect();
            assert!(pauses.iter().all(|pause| *pause <= limit), "{attempt}");
            assert!(pauses.iter().any(|pause| *pause > limit / 2), "{attempt}");
        }
    }
}
