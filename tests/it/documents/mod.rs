//! The documents match the code: commands run, links resolve, tables are complete,
//! screenshots are current.

mod commands;
mod configuration;
mod errors;
mod hsm;
mod links;
mod markdown;
mod output;
mod pictures;
mod sandbox;
mod threats;
