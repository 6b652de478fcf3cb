//! Background jobs that a test runs itself.

use engine::audit::Writer;
use engine::jobs::{Board, Job, Pulse, Supervisor};
use formats::clock::Clock;

/// The pulse of a job on a board that no test reads.
pub fn pulse() -> Pulse {
    Board::new(Clock::system()).pulse(Job::Leaders)
}

/// Runs the writer of a recorder until the supervisor is dropped.
pub fn write(writer: Writer) -> Supervisor {
    let mut jobs = Supervisor::new(Board::new(Clock::system()));
    jobs.run_with(writer.spec(), writer, |writer, pulse| Box::pin(writer.run(pulse)));
    jobs
}
