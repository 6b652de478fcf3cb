//! Tests of the internals on real tokens: operations that hang, panic or lose their session, and
//! tokens that become unavailable.
//!
//! SoftHSM reads its configuration once per process, and a login applies to the process. Therefore
//! each test runs in a child process with its own tokens.

mod away;
mod failover;
mod hang;
mod panics;
mod refusal;
mod sessions;

use std::path::Path;
use std::process::{self, Command};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{
    Config, Generated, NewKey, Purpose, Token, TokenConfig, TokenSelect, TokenState, TokenStatus,
};
use formats::algorithms::Algorithm;

const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
const PIN: &str = "5678";
const CONFIG: &str = "SOFTHSM2_CONF";
const CHILD: &str = "HSM_TEST_CHILD";

/// Returns whether this is the child process. In the parent process, it runs the test of this name
/// in a child process with tokens of these labels, and asserts its success.
#[allow(clippy::disallowed_methods, reason = "the environment identifies the child process")]
fn in_child_process(test: &str, labels: &[&str]) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let home = env::temp_dir().join(format!("hsm-{}-{}", test.replace("::", "-"), process::id()));
    let tokens = home.join("tokens");
    fs::create_dir_all(&tokens).unwrap();
    let config = home.join("softhsm2.conf");
    let settings = format!("directories.tokendir = {}\nlog.level = ERROR\n", tokens.display());
    fs::write(&config, settings).unwrap();
    for label in labels {
        let created = Command::new("softhsm2-util")
            .args(["--init-token", "--free", "--label", label, "--so-pin", "1234", "--pin", PIN])
            .env(CONFIG, &config)
            .output()
            .unwrap();
        assert!(created.status.success(), "{created:?}");
    }
    let child = Command::new(env::current_exe().unwrap())
        .args([&format!("tests::{test}"), "--exact", "--nocapture"])
        .env(CONFIG, &config)
        .env(CHILD, &tokens)
        .output()
        .unwrap();
    fs::remove_dir_all(&home).unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{output}\n{errors}");
    assert!(output.contains("1 passed"), "no such test: {output}");
    false
}

/// The token directory in the child process.
#[allow(clippy::disallowed_methods, reason = "the parent process sets the variable")]
fn token_directory() -> impl AsRef<Path> {
    env::var_os(CHILD).unwrap()
}

/// A configuration with frequent canaries, and with long deadlines for a loaded machine.
fn quick(labels: &[&str]) -> Config {
    let tokens = labels.iter().map(|label| TokenConfig {
        module: MODULE.into(),
        select: TokenSelect::Label((*label).to_owned()),
        pin: PIN.to_owned().into(),
        module_parameters: None,
        retry_pin: false,
    });
    Config {
        workers: 2,
        deadline: Duration::from_secs(10),
        generate_deadline: Duration::from_secs(30),
        canary_interval: Duration::from_millis(300),
        hang_budget: 2,
        ..Config::new(tokens.collect())
    }
}

async fn hmac_key(token: &Token) -> Generated {
    let request = NewKey {
        id: b"a key".to_vec(),
        label: "for tests".to_owned(),
        algorithm: Algorithm::HmacSha256,
        purpose: Purpose::Sign,
    };
    token.generate(request).await.unwrap()
}

fn status(token: &Token, label: &str) -> TokenStatus {
    token.status().tokens.into_iter().find(|status| status.label == label).unwrap()
}

fn is_out(status: &TokenStatus) -> bool {
    matches!(status.state, TokenState::Out { .. })
}

/// Waits until the condition is true.
async fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
