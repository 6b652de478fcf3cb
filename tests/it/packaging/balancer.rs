//! The configuration of the load balancer, verified with HAProxy.

use std::process::Command;
use std::time::Duration;

use crate::support::Scratch;

use super::{read, settings, succeed, top};

#[test]
fn haproxy_accepts_its_configuration_with_the_generated_certificates() {
    let (secrets, owner) = (Scratch::new(), Scratch::new());
    // The second run finds existing files.
    for _ in 0..2 {
        let mut prepare = Command::new(top().join("deploy/container/prepare"));
        succeed(prepare.args([secrets.path(), owner.path()]));
    }
    let password = std::fs::read(secrets.path().join("database-password")).expect("a password");
    assert_eq!(password.len(), 32);
    succeed(
        Command::new("/usr/sbin/haproxy")
            .arg("-c")
            .arg("-f")
            .arg(top().join("deploy/haproxy.cfg"))
            .env("SEALWARD_LISTEN", "127.0.0.1:8443")
            .env("SEALWARD_A", "127.0.0.1:1")
            .env("SEALWARD_B", "127.0.0.1:2")
            .env("SEALWARD_TLS", secrets.path().join("tls")),
    );
}

#[test]
fn health_checks_detect_a_shutdown_before_the_instance_exits() {
    let config = read("deploy/haproxy.cfg");
    let mut lines = config.lines().map(str::trim);
    let checks = lines.find(|line| line.starts_with("default-server check "));
    let words: Vec<_> = checks.expect("its checks").split(' ').collect();
    let number = |name: &str| -> u32 {
        let place = words.iter().position(|word| *word == name);
        let number = words[place.expect(name) + 1].trim_end_matches('s');
        number.parse().expect("a number")
    };
    let seconds = number("inter") + (number("fall") - 1) * number("fastinter");
    let detected_after = Duration::from_secs(seconds.into());
    assert!(settings("deploy/compose/sealward.toml").drain_delay() > detected_after);
}
