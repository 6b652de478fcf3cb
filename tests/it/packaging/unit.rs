//! The units for systemd.

use std::process::Command;
use std::time::Duration;

use sealward::settings::Settings;

use super::{assert_is_a_command, read, top};

const UNIT: &str = "deploy/systemd/sealward@.service";
const MIGRATE: &str = "deploy/systemd/sealward-migrate@.service";
const RETAIN: &str = "deploy/systemd/sealward-retain@.service";
const UNITS: [&str; 3] = [UNIT, MIGRATE, RETAIN];

/// What the unit of the service says of each of its names.
fn said(name: &str) -> Vec<String> {
    said_in(UNIT, name)
}

fn said_in(unit: &str, name: &str) -> Vec<String> {
    let unit = read(unit);
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value.to_owned())
        .collect()
}

#[test]
fn each_starts_the_program_with_settings_of_the_instance() {
    for (unit, command) in UNITS.into_iter().zip(["serve", "migrate", "retain"]) {
        let start = said_in(unit, "ExecStart").concat();
        let words: Vec<&str> = start.split_whitespace().collect();
        assert_eq!(words[..2], ["/usr/local/bin/sealward", command]);
        assert_is_a_command(&words);
        assert!(start.contains("/%i.toml"), "{start}");
    }
}

#[test]
fn each_has_the_password_of_its_own_login_alone() {
    let passwords = |unit| {
        let loaded = said_in(unit, "LoadCredential").into_iter();
        let names = loaded.map(|it| it.split(':').next().unwrap_or_default().to_owned());
        names.filter(|name| name.ends_with("-password")).collect()
    };
    let found: [Vec<String>; 3] = UNITS.map(passwords);
    let expected = ["database-password", "owner-password", "retention-password"];
    assert_eq!(found, expected.map(|name| vec![name.to_owned()]));
}

#[test]
fn their_credentials_are_those_that_the_example_of_settings_names() {
    let example = read("docs/configuration.md");
    for credential in UNITS.map(|unit| said_in(unit, "LoadCredential")).concat() {
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
    for unit in UNITS {
        let asked = Command::new("systemd-analyze")
            .args(["security", "--offline=yes", "--threshold=20", "--no-pager"])
            .arg(top().join(unit))
            .output();
        let Ok(told) = asked else {
            println!("not checked: this machine has no systemd-analyze");
            return;
        };
        let report = String::from_utf8_lossy(&told.stdout);
        assert!(report.contains("Overall exposure level"), "{told:?}");
        assert!(told.status.success(), "{report}");
    }
}
