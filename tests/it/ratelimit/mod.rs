//! Rate limits that instances share in Valkey.

mod apart;
mod together;
