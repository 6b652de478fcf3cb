//! The commands of the binary, as an operator gives them.

mod api_key;
mod doctor;
mod import;
mod memory;
mod rolling;
mod serve;
mod settings;
mod tls;
mod wrap;
