//! Limits that instances share, against the real server.

mod apart;
mod together;
