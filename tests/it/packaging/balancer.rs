//! The load balancer's configuration, which is given to HAProxy itself.

use std::process::Command;

use crate::support::Scratch;

use super::{succeed, top};

#[test]
fn haproxy_accepts_it_with_the_certificates_that_are_made() {
    let secrets = Scratch::new();
    // A second run finds all there.
    for _ in 0..2 {
        succeed(Command::new(top().join("deploy/container/prepare")).arg(secrets.path()));
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
