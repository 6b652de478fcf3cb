//! What can only be tested from inside the crate, on real tokens: operations that hang, panic or
//! lose their session, and tokens that go away.
//!
//! SoftHSM reads its configuration once a process, and a login is one for the process. So each of
//! these tests runs itself again in a process of its own, with tokens of its own.

mod away;
mod failover;
mod hang;
mod refusal;
mod sessions;

use std::path::Path;
use std::process::{self, Command};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::{
    Algorithm, Config, Generated, NewKey, Purpose, Token, TokenConfig, TokenSelect, TokenState,
    TokenStatus,
};

const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
const PIN: &str = "5678";
const CONFIG: &str = "SOFTHSM2_CONF";
const CHILD: &str = "HSM_TEST_CHILD";

/// Whether this is the process of its own. In the process that is not, runs the test of this name
/// in one that is, with tokens of these labels, and passes its verdict on.
#[allow(
    clippy::disallowed_methods,
    reason = "the environment tells the two processes apart"
)]
fn alone(test: &str, labels: &[&str]) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let home = env::temp_dir().join(format!("hsm-{}-{}", test.replace("::", "-"), process::id()));
    let tokens = home.join("tokens");
    fs::create_dir_all(&tokens).unwrap();
    let config = home.join("softhsm2.conf");
    let settings = format!(
        "directories.tokendir = {}\nlog.level = ERROR\n",
        tokens.display()
    );
    fs::write(&config, settings).unwrap();
    for label in labels {
        let made = Command::new("softhsm2-util")
            .args([
                "--init-token",
                "--free",
                "--label",
                label,
                "--so-pin",
                "1234",
                "--pin",
                PIN,
            ])
            .env(CONFIG, &config)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
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

/// The directory of the tokens, in the process of its own.
#[allow(clippy::disallowed_methods, reason = "the parent process tells it so")]
fn token_directory() -> impl AsRef<Path> {
    env::var_os(CHILD).unwrap()
}

/// A configuration that finds out quickly. Its deadlines are long: the machine may be busy.
fn quick(labels: &[&str]) -> Config {
    let tokens = labels.iter().map(|label| TokenConfig {
        module: MODULE.into(),
        select: TokenSelect::Label((*label).to_owned()),
        pin: PIN.to_owned().into(),
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
    let order = NewKey {
        id: b"a key".to_vec(),
        label: "for tests".to_owned(),
        algorithm: Algorithm::HmacSha256,
        purpose: Purpose::Sign,
    };
    token.generate(order).await.unwrap()
}

/// How the token with this label is.
fn status(token: &Token, label: &str) -> TokenStatus {
    token
        .status()
        .tokens
        .into_iter()
        .find(|status| status.label == label)
        .unwrap()
}

fn is_out(status: &TokenStatus) -> bool {
    matches!(status.state, TokenState::Out { .. })
}

/// Waits until something is so.
async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let given_up = Instant::now() + Duration::from_secs(20);
    while !so() {
        assert!(Instant::now() < given_up, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
