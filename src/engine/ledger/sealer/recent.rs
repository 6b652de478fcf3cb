//! The search for the segments that transactions have committed since the last round.
//!
//! A segment becomes visible when its transaction commits. So a pass reads the segments of all transactions from the
//! oldest one on that could still commit when the pass before began.

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use crate::ledger::store::Moment;

/// How long a transaction can run before only the sweeps find its segments. Without a limit, one transaction that stays
/// open would let each pass read all segments since. `statement_timeout` ends those of instances before.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// A place in the order of transactions: a transaction, and one of its segments.
pub(in crate::ledger) type Place = (i64, Uuid);

/// The transactions whose segments are read next.
#[derive(Debug)]
pub(super) struct Recent {
    /// The first transaction of the next pass. None at first: the sweeps find what was committed before.
    next: Option<i64>,
    pass: Option<Pass>,
    /// The first transaction that had not begun at least [`LONGEST`] ago, and that of a later moment.
    floors: [i64; 2],
    raised: Instant,
}

/// A pass that has begun. One round may not be enough for it.
#[derive(Clone, Copy, Debug)]
struct Pass {
    after: Place,
    end: i64,
    /// The first transaction of the pass that follows.
    next: i64,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self { next: None, pass: None, floors: [0; 2], raised: Instant::now() }
    }

    /// What the next step reads: the segments after a place, of transactions before another one.
    pub(super) fn range(&mut self, moment: &Moment, at: Instant) -> (Place, i64) {
        if at.duration_since(self.raised) >= LONGEST {
            self.floors = [self.floors[1], moment.next];
            self.raised = at;
        }
        let pass = *self.pass.get_or_insert(Pass {
            after: (self.next.unwrap_or(moment.oldest), Uuid::nil()),
            end: moment.next,
            next: moment.oldest.max(self.floors[0]),
        });
        (pass.after, pass.end)
    }

    /// Continues after the last segment of a step, which a step that ends the pass does not have. Returns whether it does.
    pub(super) fn advance(&mut self, end: Option<Place>) -> bool {
        match (end, &mut self.pass) {
            (Some(end), Some(pass)) => pass.after = end,
            (_, pass) => self.next = pass.take().map(|pass| pass.next).or(self.next),
        }
        end.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::clock::Timestamp;

    fn moment(oldest: i64, next: i64) -> Moment {
        Moment { now: Timestamp::from_millis(0), oldest, next }
    }

    const NIL: Uuid = Uuid::nil();

    fn range(recent: &mut Recent, oldest: i64, next: i64) -> (Place, i64) {
        recent.range(&moment(oldest, next), Instant::now())
    }

    #[test]
    fn a_pass_begins_with_the_oldest_transaction_that_ran_when_the_last_one_began() {
        let mut recent = Recent::new();
        assert_eq!(range(&mut recent, 5, 9), ((5, NIL), 9));
        assert!(recent.advance(None));
        assert_eq!(range(&mut recent, 20, 30), ((5, NIL), 30));
        assert!(recent.advance(None));
        assert_eq!(range(&mut recent, 30, 31), ((20, NIL), 31));
    }

    #[test]
    fn a_pass_that_takes_several_rounds_passes_over_nothing() {
        let mut recent = Recent::new();
        range(&mut recent, 5, 9);
        assert!(!recent.advance(Some((7, Uuid::max()))));
        assert_eq!(range(&mut recent, 12, 15), ((7, Uuid::max()), 9));
        assert!(recent.advance(None));
        assert_eq!(range(&mut recent, 14, 15), ((5, NIL), 15));
    }

    #[test]
    fn a_transaction_that_stays_open_does_not_let_passes_grow_without_end() {
        let mut recent = Recent::new();
        let mut at = Instant::now();
        for next in [100, 200, 300, 400, 500] {
            recent.range(&moment(5, next), at);
            recent.advance(None);
            at += LONGEST;
        }
        assert_eq!(recent.range(&moment(5, 600), at), ((400, NIL), 600));
    }
}
