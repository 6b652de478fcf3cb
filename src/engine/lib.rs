//! What Sealward does, behind every API.
//!
//! The modules and their layers. A module imports only modules of lower layers.
//!
//! | layer | modules |
//! |------:|---------|
//! | 13 | `drill` |
//! | 12 | `reports` |
//! | 11 | `rows` |
//! | 10 | `ledger`, `receive` |
//! | 9 | `management`, `protection` |
//! | 8 | `keys` |
//! | 7 | `policy`, `web` |
//! | 6 | `audit`, `auth`, `ratelimit` |
//! | 5 | `catalog`, `jwt`, `segments` |
//! | 4 | `jobs`, `report_key` |
//! | 3 | `client_certificates`, `db`, `hardening`, `meter`, `policy_number`, `telemetry` |
//! | 2 | `request_tag`, `resource`, `settings`, `web_client` |
//! | 1 | `body_memory`, `floor`, `operation`, `seals` |
//! | 0 | `change_kind`, `closed_set`, `fingerprint`, `ids`, `revision`, `shares`, `spiffe` |

pub mod audit;
pub mod auth;
pub mod body_memory;
pub mod catalog;
pub mod change_kind;
pub mod client_certificates;
mod closed_set;
pub mod db;
pub mod drill;
pub mod fingerprint;
pub mod floor;
pub mod hardening;
pub mod ids;
pub mod jobs;
pub mod jwt;
pub mod keys;
pub mod ledger;
pub mod management;
pub mod meter;
pub mod operation;
pub mod policy;
mod policy_number;
pub mod protection;
pub mod ratelimit;
pub mod receive;
pub mod report_key;
pub mod reports;
pub mod request_tag;
pub mod resource;
pub mod revision;
pub mod rows;
pub mod seals;
pub mod segments;
pub mod settings;
pub mod shares;
mod spiffe;
pub mod telemetry;
pub mod web;
pub mod web_client;
