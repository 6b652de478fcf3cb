//! The commands of the binary.

mod api_key;
mod audit_init;
mod change;
mod client_site;
mod connection;
mod doctor;
mod drill;
mod emergency;
mod envelope;
mod expiry;
mod file;
mod hardening;
mod health;
mod import;
mod memory;
mod observed;
mod packaged;
mod person;
mod privileges;
mod refused_pins;
mod report;
mod request_log;
mod retain;
mod rewrap_all;
mod rolling;
mod rotation;
mod secrets;
mod serve;
mod settings;
mod tls;
mod wrap;

use std::path::Path;

#[test]
fn the_tests_run_the_binary_of_their_build() {
    assert_eq!(testkit::program(), Path::new(env!("CARGO_BIN_EXE_sealward")));
}
