//! Sealward, a cryptographic protection service in front of a PKCS#11 token.
//!
//! The modules and their layers. A module imports only modules of lower layers. `tests/it/layers.rs`
//! reads this table and verifies the imports.
//!
//! | layer | modules |
//! |------:|---------|
//! | 12 | `command` |
//! | 11 | `server` |
//! | 10 | `dashboard`, `http` |
//! | 9 | `ledger` |
//! | 8 | `management`, `protection` |
//! | 7 | `keys` |
//! | 6 | `oidc`, `policy`, `web` |
//! | 5 | `audit`, `auth`, `ratelimit` |
//! | 4 | `catalog` |
//! | 3 | `client_certificates`, `db`, `hardening`, `jwt`, `meter`, `telemetry` |
//! | 2 | `canonical`, `envelope`, `material`, `request_tag`, `resource`, `settings`, `tlog`, `web_client` |
//! | 1 | `algorithms`, `binary`, `body_memory`, `change_kind`, `fingerprint`, `ids`, `json`, `operation`, `revision`, `spiffe` |
//! | 0 | `clock`, `closed_set`, `problem`, `semaphores`, `similar`, `wiped` |

pub mod algorithms;
pub mod audit;
pub mod auth;
pub mod binary;
pub mod body_memory;
pub mod canonical;
pub mod catalog;
pub mod change_kind;
pub mod client_certificates;
pub mod clock;
pub mod closed_set;
pub mod command;
pub mod dashboard;
pub mod db;
pub mod envelope;
pub mod fingerprint;
pub mod hardening;
pub mod http;
pub mod ids;
pub mod json;
pub mod jwt;
pub mod keys;
pub mod ledger;
pub mod management;
pub mod material;
pub mod meter;
pub mod oidc;
pub mod operation;
pub mod policy;
pub mod problem;
pub mod protection;
pub mod ratelimit;
pub mod request_tag;
pub mod resource;
pub mod revision;
pub mod semaphores;
pub mod server;
pub mod settings;
pub mod similar;
pub mod spiffe;
pub mod telemetry;
pub mod tlog;
pub mod web;
pub mod web_client;
pub mod wiped;
