//! The documents match the code: commands run, links resolve, tables are complete.

mod commands;
mod configuration;
mod errors;
mod hsm;
mod links;
mod markdown;
mod output;
mod sandbox;
mod threats;
