//! The threads of a token: its queue, its workers, its monitor and the supervisor.

#![deny(clippy::wildcard_enum_match_arm)]

mod device;
mod job;
mod monitor;
mod queue;
mod registry;
mod start;
mod supervisor;
mod worker;

pub(crate) use device::Device;
pub(crate) use job::{Access, Job, PROBED_KEYS};
pub(crate) use monitor::open;
#[cfg(test)]
pub(crate) use registry::{PANICS, Role};
pub(crate) use supervisor::{Supervisor, supervise};
