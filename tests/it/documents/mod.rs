//! The documents say what is so: commands run, links lead somewhere, tables are whole.

mod commands;
mod configuration;
mod errors;
mod links;
mod markdown;
mod newcomer;
mod shown;
mod threats;
