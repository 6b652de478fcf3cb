//! The search for the segments that transactions have committed since the last round.
//!
//! A segment becomes visible when its transaction commits. So a pass reads the segments of the transactions that had not
//! ended when the pass before it began.

use uuid::Uuid;

use crate::ledger::store::{Moment, TransactionKey, Unread};

/// The segments that are read next.
#[derive(Debug)]
pub(super) struct Recent {
    /// The moment when the last complete pass began. What was committed before it has been read, or is found by the sweeps.
    read: Moment,
    /// The pass that is not complete: one round may not be enough for it.
    pass: Option<Pass>,
}

#[derive(Debug)]
struct Pass {
    began: Moment,
    /// The last segment that it has read.
    after: TransactionKey,
}

impl Recent {
    /// A search for what is committed after this moment.
    pub(super) fn new(moment: Moment) -> Self {
        Self { read: moment, pass: None }
    }

    /// What the next step reads. A pass that begins reads what is committed now.
    pub(super) fn unread(&mut self, moment: &Moment) -> Unread<'_> {
        let begin = || Pass { began: moment.clone(), after: (0, Uuid::nil()) };
        let pass = self.pass.get_or_insert_with(begin);
        Unread { since: &self.read, after: pass.after, end: pass.began.next }
    }

    /// Continues the pass after the last segment of a step, or completes it. Returns whether it is complete.
    pub(super) fn advance(&mut self, last: Option<TransactionKey>) -> bool {
        match (last, &mut self.pass) {
            (Some(last), Some(pass)) => pass.after = last,
            (_, pass) => self.read = pass.take().map_or_else(|| self.read.clone(), |it| it.began),
        }
        last.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::clock::Timestamp;

    fn moment(running: &[i64], next: i64) -> Moment {
        Moment { now: Timestamp::from_millis(0), running: running.to_vec(), next }
    }

    /// The transactions that had not ended, and those that the step reads.
    fn step(recent: &mut Recent, moment: &Moment) -> (Vec<i64>, i64, TransactionKey, i64) {
        let unread = recent.unread(moment);
        (unread.since.running.clone(), unread.since.next, unread.after, unread.end)
    }

    const START: TransactionKey = (0, Uuid::nil());

    #[test]
    fn a_pass_reads_what_had_not_ended_when_the_last_one_began() {
        let mut recent = Recent::new(moment(&[5], 9));
        assert_eq!(step(&mut recent, &moment(&[5, 11], 12)), (vec![5], 9, START, 12));
        assert!(recent.advance(None));
        assert_eq!(step(&mut recent, &moment(&[], 20)), (vec![5, 11], 12, START, 20));
        assert!(recent.advance(None));
        assert_eq!(step(&mut recent, &moment(&[20], 21)), (vec![], 20, START, 21));
    }

    #[test]
    fn a_pass_of_several_rounds_passes_over_nothing() {
        let mut recent = Recent::new(moment(&[], 5));
        recent.unread(&moment(&[7], 9));
        assert!(!recent.advance(Some((8, Uuid::max()))));
        assert_eq!(step(&mut recent, &moment(&[], 15)), (vec![], 5, (8, Uuid::max()), 9));
        assert!(recent.advance(None));
        assert_eq!(step(&mut recent, &moment(&[], 16)), (vec![7], 9, START, 16));
    }
}
