//! The audit log in Postgres.

mod days;
mod downloads;
mod listing;
mod recorder;
mod roles;
mod traffic;
