//! Postgres failures.

mod busy;
mod crowded;
mod failover;
mod full;
mod killed;
mod read_only;
mod slow;
mod stopped;
