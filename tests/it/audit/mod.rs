//! The trail, driven directly against Postgres.

mod days;
mod recorder;
mod roles;
mod traffic;
mod trail;
