//! The data formats of Sealward: values, their text and their bytes.
//!
//! This crate is pure: it knows no I/O, database, runtime, log or token. The feature `service` adds the
//! conversions of its types for Postgres and OpenAPI.
//!
//! The modules and their layers. A module imports only modules of lower layers.
//!
//! | layer | modules |
//! |------:|---------|
//! | 3 | `canonical`, `envelope`, `material`, `tlog` |
//! | 2 | `json`, `algorithms`, `binary` |
//! | 1 | `closed_set` |
//! | 0 | `clock`, `hex`, `problem`, `similar`, `turns`, `wiped` |

pub mod algorithms;
pub mod binary;
pub mod canonical;
pub mod clock;
pub mod closed_set;
pub mod envelope;
pub mod hex;
pub mod json;
pub mod material;
pub mod problem;
pub mod similar;
pub mod tlog;
pub mod turns;
pub mod wiped;
