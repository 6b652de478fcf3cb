//! The delay before a job that ended starts again.

use std::time::Duration;

pub(super) const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// A delay that doubles with each failure. A job that ran for longer than the longest delay starts with
/// the first one again.
#[derive(Debug, Default)]
pub(super) struct Delay(Duration);

impl Delay {
    /// The delay after a job that ran for this time.
    pub(super) fn after(&mut self, ran: Duration) -> Duration {
        if ran > LONGEST {
            self.0 = Duration::ZERO;
        }
        self.0 = (self.0 * 2).clamp(FIRST, LONGEST);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_half_a_minute() {
        let mut delay = Delay::default();
        for millis in [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600] {
            assert_eq!(delay.after(Duration::ZERO), Duration::from_millis(millis));
        }
        assert_eq!(delay.after(LONGEST), LONGEST);
        assert_eq!(delay.after(LONGEST + FIRST), FIRST);
    }
}
