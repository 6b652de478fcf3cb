//! The documents match the code: commands run, links resolve, tables are complete,
//! screenshots are current.

mod age;
mod change_lists;
mod commands;
mod configuration;
mod contributing;
mod errors;
mod filters;
mod hsm;
mod links;
mod markdown;
mod output;
mod pictures;
mod sandbox;
mod shares;
mod threats;
mod transit;
