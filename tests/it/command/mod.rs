//! The commands of the binary, as an operator gives them.

mod api_key;
mod doctor;
mod hardening;
mod import;
mod memory;
mod observed;
mod rolling;
mod secrets;
mod serve;
mod settings;
mod tls;
mod wrap;
