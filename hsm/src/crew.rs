//! The threads of one token: who is seated, who hangs, who has left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use crate::seat::{Role, Seat, WrittenOff};

#[derive(Debug, Default)]
pub(crate) struct Crew {
    seats: Mutex<Vec<Arc<Seat>>>,
    /// Threads that have not been given up and have not left.
    present: watch::Sender<usize>,
}

impl Crew {
    pub(crate) fn join(&self, role: Role) -> Arc<Seat> {
        let seat = Arc::new(Seat::new(role));
        self.seats().push(Arc::clone(&seat));
        self.present.send_modify(|present| *present += 1);
        seat
    }

    /// Takes a thread out of the crew. The last one does what is to be done before anybody who
    /// waits for the end is told.
    pub(crate) fn leave(&self, seat: &Arc<Seat>, last: impl FnOnce()) {
        let nobody_left = {
            let mut seats = self.seats();
            seats.retain(|other| !Arc::ptr_eq(other, seat));
            seats.is_empty()
        };
        if nobody_left {
            last();
        }
        if !seat.is_written_off() {
            self.present.send_modify(|present| *present -= 1);
        }
    }

    /// Gives up threads that hang inside the library. Time during which the token was busy with a
    /// write only counts against the writer.
    pub(crate) fn write_off_hung(&self, busy_until: Option<Instant>) -> Vec<WrittenOff> {
        let seats = self.seats().clone();
        let hung: Vec<_> = seats
            .iter()
            .filter_map(|seat| {
                let busy_until = busy_until.filter(|_| !seat.is_writing());
                seat.write_off_if_hung(busy_until)
            })
            .collect();
        for _ in &hung {
            self.present.send_modify(|present| *present -= 1);
        }
        hung
    }

    /// Threads that were given up and have not come back.
    pub(crate) fn hung(&self) -> usize {
        self.seats()
            .iter()
            .filter(|seat| seat.is_written_off())
            .count()
    }

    pub(crate) fn workers(&self) -> usize {
        let working = |seat: &&Arc<Seat>| seat.role == Role::Worker && !seat.is_written_off();
        self.seats().iter().filter(working).count()
    }

    /// Counts the threads that are present.
    pub(crate) fn present(&self) -> watch::Receiver<usize> {
        self.present.subscribe()
    }

    fn seats(&self) -> MutexGuard<'_, Vec<Arc<Seat>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_last_to_leave_does_what_is_left() {
        let crew = Crew::default();
        let (first, second) = (crew.join(Role::Worker), crew.join(Role::Keeper));
        crew.leave(&first, || panic!("somebody is still there"));
        let mut done = false;
        crew.leave(&second, || done = true);
        assert!(done);
        assert_eq!(*crew.present().borrow(), 0);
    }

    #[test]
    fn a_hung_thread_is_not_present_and_not_at_work() {
        let crew = Crew::default();
        let seat = crew.join(Role::Worker);
        seat.during(Duration::ZERO, false, || {
            assert_eq!(crew.write_off_hung(None).len(), 1);
        });
        assert_eq!(
            (crew.workers(), crew.hung(), *crew.present().borrow()),
            (0, 1, 0)
        );
        crew.leave(&seat, || {});
        assert_eq!((crew.hung(), *crew.present().borrow()), (0, 0));
    }

    #[test]
    fn while_the_token_writes_only_the_writer_can_hang() {
        let crew = Crew::default();
        let (reader, writer) = (crew.join(Role::Worker), crew.join(Role::Worker));
        let later = Some(Instant::now() + Duration::from_secs(60));
        reader.during(Duration::ZERO, false, || {
            writer.during(Duration::ZERO, true, || {
                let lost = WrittenOff {
                    role: Role::Worker,
                    write: true,
                };
                assert_eq!(crew.write_off_hung(later), [lost]);
            });
        });
    }
}
