//! The audit log in Postgres.

mod day_bounds;
mod days;
mod downloads;
mod listing;
mod recorder;
mod refused_days;
mod restarts;
mod roles;
mod traffic;

pub(crate) use self::recorder::record;
