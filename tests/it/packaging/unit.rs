//! The systemd units.

use std::process::Command;
use std::time::Duration;

use engine::settings::Settings;

use super::{assert_is_a_command, read, settings, top};

const UNIT: &str = "deploy/systemd/sealward@.service";
const MIGRATE: &str = "deploy/systemd/sealward-migrate@.service";
const RETAIN: &str = "deploy/systemd/sealward-retain@.service";
const UNITS: [&str; 3] = [UNIT, MIGRATE, RETAIN];

/// The values of a key in the unit of the service.
fn values(name: &str) -> Vec<String> {
    values_in(UNIT, name)
}

fn values_in(unit: &str, name: &str) -> Vec<String> {
    let unit = read(unit);
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines.filter(|(found, _)| *found == name).map(|(_, value)| value.to_owned()).collect()
}

#[test]
fn each_starts_the_program_with_settings_of_the_instance() {
    for (unit, command) in UNITS.into_iter().zip(["serve", "migrate", "retain"]) {
        let start = values_in(unit, "ExecStart").concat();
        let words: Vec<&str> = start.split_whitespace().collect();
        assert_eq!(words[..2], ["/usr/local/bin/sealward", command]);
        assert_is_a_command(&words);
        assert!(start.contains("/%i.toml"), "{start}");
    }
}

#[test]
fn each_command_only_has_the_password_of_its_own_login() {
    let passwords = |unit| {
        let loaded = values_in(unit, "LoadCredential").into_iter();
        let names = loaded.map(|it| it.split(':').next().unwrap_or_default().to_owned());
        names.filter(|name| name.ends_with("-password")).collect()
    };
    let found: [Vec<String>; 3] = UNITS.map(passwords);
    let expected = ["database-password", "owner-password", "retention-password"];
    assert_eq!(found, expected.map(|name| vec![name.to_owned()]));
}

#[test]
fn the_credentials_match_the_example_settings() {
    let example = read("docs/configuration.md");
    for credential in UNITS.map(|unit| values_in(unit, "LoadCredential")).concat() {
        let (name, _) = credential.split_once(':').expect("a name and a file");
        let named = format!("{{ credential = \"{name}\" }}");
        assert!(example.contains(&named), "{name}");
    }
}

#[test]
fn the_unit_waits_for_the_drain_and_does_not_restart_after_a_refused_pin() {
    let timeout: u64 = values("TimeoutStopSec").concat().parse().expect("seconds");
    let settings = Settings::default();
    let drain = settings.drain_delay() + settings.http.drain_timeout.0;
    assert!(Duration::from_secs(timeout) > drain);
    // The exit code of `a_refused_pin_exits_with_a_code_that_prevents_restarts`.
    assert_eq!(values("RestartPreventExitStatus"), ["78"]);
}

#[test]
fn the_sysusers_file_creates_the_user_of_the_unit() {
    let user = values("User").concat();
    let declared = read("deploy/systemd/sysusers.conf");
    assert!(declared.lines().any(|line| line.starts_with(&format!("u {user} "))));
}

#[test]
fn the_settings_of_the_package_refer_to_credentials_of_the_units() {
    let loaded = UNITS.map(|unit| values_in(unit, "LoadCredential")).concat();
    for file in ["deploy/debian/sealward.toml", "deploy/trial/sealward.toml"] {
        settings(file);
        let text = read(file);
        for part in text.split("{ credential = \"").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            let found = format!("{name}:/etc/sealward/{name}");
            assert!(loaded.contains(&found), "{file}: {name}");
        }
    }
}

/// `systemd-analyze` rates up to 10. The units must stay below 2.
#[test]
fn the_unit_has_a_low_exposure_level() {
    for unit in UNITS {
        let result = Command::new("systemd-analyze")
            .args(["security", "--offline=yes", "--threshold=20", "--no-pager"])
            .arg(top().join(unit))
            .output();
        let Ok(output) = result else {
            println!("skipped: this machine has no systemd-analyze");
            return;
        };
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(report.contains("Overall exposure level"), "{output:?}");
        assert!(output.status.success(), "{report}");
    }
}
