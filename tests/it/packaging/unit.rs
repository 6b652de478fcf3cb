//! The unit for systemd.

use std::process::Command;
use std::time::Duration;

use sealward::settings::Settings;

use super::{assert_is_a_command, read, top};

const UNIT: &str = "deploy/systemd/sealward@.service";

/// What the unit says of each of its names.
fn said(name: &str) -> Vec<String> {
    let unit = read(UNIT);
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value.to_owned())
        .collect()
}

#[test]
fn it_starts_the_program_with_settings_of_the_instance() {
    let start = said("ExecStart").concat();
    let words: Vec<&str> = start.split_whitespace().collect();
    assert_eq!(words[0], "/usr/local/bin/sealward");
    assert_is_a_command(&words);
    assert!(start.contains("/%i.toml"), "{start}");
}

#[test]
fn its_credentials_are_those_that_the_example_of_settings_names() {
    let example = read("docs/configuration.md");
    for credential in said("LoadCredential") {
        let (name, _) = credential.split_once(':').expect("a name and a file");
        let named = format!("{{ credential = \"{name}\" }}");
        assert!(example.contains(&named), "{name}");
    }
}

#[test]
fn it_waits_for_the_drain_and_leaves_a_refused_pin_alone() {
    let patience: u64 = said("TimeoutStopSec").concat().parse().expect("seconds");
    let settings = Settings::default();
    let drain = settings.drain_delay() + settings.http.drain_timeout.0;
    assert!(Duration::from_secs(patience) > drain);
    // The code that `a_refused_pin_tells_the_supervisor_not_to_try_again` sees.
    assert_eq!(said("RestartPreventExitStatus"), ["78"]);
}

#[test]
fn its_user_is_made_by_the_file_beside_it() {
    let user = said("User").concat();
    let made = read("deploy/systemd/sysusers.conf");
    assert!(
        made.lines()
            .any(|line| line.starts_with(&format!("u {user} ")))
    );
}

/// `systemd-analyze` counts to 10; under 2 is what we ask of ourselves.
#[test]
fn it_is_exposed_to_little() {
    let asked = Command::new("systemd-analyze")
        .args(["security", "--offline=yes", "--threshold=20", "--no-pager"])
        .arg(top().join(UNIT))
        .output();
    let Ok(told) = asked else {
        println!("not checked: this machine has no systemd-analyze");
        return;
    };
    let report = String::from_utf8_lossy(&told.stdout);
    assert!(report.contains("Overall exposure level"), "{told:?}");
    assert!(told.status.success(), "{report}");
}
