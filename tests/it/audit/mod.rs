//! The trail, driven directly against Postgres.

mod recorder;
mod traffic;
mod trail;
