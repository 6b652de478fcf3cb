//! The audit log in Postgres.

mod days;
mod listing;
mod recorder;
mod roles;
mod traffic;
