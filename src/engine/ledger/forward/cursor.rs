//! How far a collector is in a log.

use std::collections::VecDeque;
use std::time::Duration;

/// The entries that were sent together count from the first of them.
const STEP: Duration = Duration::from_secs(1);

/// A position, as the database has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of entries that were sent.
    pub(super) sent: u64,
    /// The number of entries that are not sent again.
    pub(super) confirmed: u64,
}

/// The position of this connection, and when its last entries were sent.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) position: Position,
    /// Times, each with the number of entries that were sent until a second later. At most as many
    /// as the window has seconds.
    marks: VecDeque<(Duration, u64)>,
    window: Duration,
}

impl Cursor {
    /// A cursor whose entries are confirmed when they were sent so long ago.
    pub(super) fn new(position: Position, window: Duration) -> Self {
        Self { position, marks: VecDeque::new(), window }
    }

    /// Goes back to the confirmed entries, for a new connection.
    pub(super) fn rewind(&mut self) {
        self.position.sent = self.position.confirmed;
        self.marks.clear();
    }

    /// Notes that the entries before `sent` were sent.
    pub(super) fn sent(&mut self, sent: u64, now: Duration) {
        self.position.sent = sent;
        match self.marks.back_mut() {
            Some((at, mark)) if now < *at + STEP => *mark = sent,
            _ => self.marks.push_back((now, sent)),
        }
        self.confirm(now);
    }

    /// Confirms the entries that were sent before the window.
    pub(super) fn confirm(&mut self, now: Duration) {
        if self.window.is_zero() {
            self.marks.clear();
            self.position.confirmed = self.position.sent;
        }
        while let Some((at, mark)) = self.marks.front()
            && now >= *at + STEP + self.window
        {
            self.position.confirmed = *mark;
            self.marks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_acknowledged_entry_is_confirmed_at_once() {
        let mut cursor = Cursor::new(Position::default(), Duration::ZERO);
        cursor.sent(7, at(0));
        assert_eq!(cursor.position.confirmed, 7);
    }

    #[test]
    fn an_entry_is_confirmed_after_the_window() {
        let mut cursor = Cursor::new(Position::default(), at(60));
        cursor.sent(3, at(0));
        cursor.sent(5, at(30));
        cursor.confirm(at(60));
        assert_eq!(cursor.position.confirmed, 0);
        cursor.confirm(at(61));
        assert_eq!(cursor.position, Position { sent: 5, confirmed: 3 });
        cursor.rewind();
        assert_eq!(cursor.position, Position { sent: 3, confirmed: 3 });
        cursor.confirm(at(1_000));
        assert_eq!(cursor.position.confirmed, 3);
    }

    #[test]
    fn constant_traffic_needs_one_mark_a_second() {
        let mut cursor = Cursor::new(Position::default(), at(60));
        for tenth in 0..10_000_u32 {
            cursor.sent(u64::from(tenth) + 1, Duration::from_millis(100) * tenth);
        }
        assert!(cursor.marks.len() <= 62, "{}", cursor.marks.len());
        let Position { sent, confirmed } = cursor.position;
        assert!((600..=620).contains(&(sent - confirmed)), "{sent} {confirmed}");
    }
}
