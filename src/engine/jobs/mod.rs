//! Background jobs: their names, their supervisor, and what is known of them.
//!
//! `src/server/jobs.rs` registers each job. A job that ends or panics is logged, counted and started
//! again. The [`Board`] shows which jobs run, so that health and readiness do not trust the last status
//! of a job that is gone.

mod board;
mod delay;
#[cfg(feature = "fault-points")]
pub mod fault;
mod job;
mod leader;
mod observed;
mod store;
mod supervisor;
mod watch;

pub use self::board::{Board, Pulse};
pub(crate) use self::job::STARTING;
pub use self::job::{Absence, Instances, Job, Spec};
pub use self::leader::Marks;
pub(crate) use self::leader::{Leader, Leadership};
pub use self::observed::Observed;
pub(crate) use self::store::{release_turn, take_turn};
pub use self::supervisor::Supervisor;
pub use self::watch::watch_leaders;
