//! Refused PINs are not tried again: after a restart, by another instance, or by another command. The
//! token reports no failed logins.

use std::fs;
use std::process::Stdio;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use faulty_token::Fault;

use testkit::{Exit, Process, Site};

/// `CKF_USER_PIN_COUNT_LOW`, `CKF_USER_PIN_FINAL_TRY` and `CKF_USER_PIN_LOCKED`.
const PIN_FLAGS: u64 = 0x0007_0000;
/// `CKR_PIN_INCORRECT`.
const PIN_INCORRECT: u64 = 0xa0;

const REFUSED_BEFORE: &str = "refused this PIN before";

/// A site whose token shows no PIN flags.
async fn site() -> Site {
    let site = Site::with_faults().await;
    let silent = Fault::NoFlags(PIN_FLAGS).on("C_GetTokenInfo");
    site.faults().rules(&[silent]);
    site.admin_key();
    site
}

fn logins(site: &Site) -> usize {
    site.faults().calls("C_Login")
}

/// The refused PINs: the label and the serial number of the token, and the digest.
async fn refusals(site: &Site) -> Vec<(String, String, i16)> {
    sqlx::query_as("SELECT label, serial, digest FROM refused_pins")
        .fetch_all(&mut site.connect().await)
        .await
        .expect("the refused PINs")
}

#[tokio::test]
async fn a_refused_pin_is_not_tried_again_after_a_restart() {
    let site = site().await;
    let before = logins(&site);
    fs::write(site.pin_file(), "wrong").expect("write a PIN");
    site.run(&["serve"]).failure(78, &["hsm.tokens.pin", "tried once"]);
    for command in [vec!["serve"], vec!["doctor"], vec!["audit", "init"]] {
        let again = &["hsm.tokens.pin", REFUSED_BEFORE, "hsm.tokens.retry_pin"];
        site.run(&command).failure(78, again);
    }
    assert_eq!(logins(&site) - before, 1);
}

#[tokio::test]
async fn a_changed_pin_is_tried_at_once() {
    let site = site().await;
    let before = logins(&site);
    fs::write(site.pin_file(), "wrong").expect("write a PIN");
    site.run(&["serve"]).failure(78, &["tried once"]);
    let [(label, serial, digest)] = &refusals(&site).await[..] else {
        panic!("one refused PIN");
    };
    let key = hmac::Key::new(HMAC_SHA256, format!("{label}\0{serial}").as_bytes());
    let mut others = (0..).map(|number| format!("wrong {number}"));
    let differs = |pin: &String| {
        let mac = hmac::sign(&key, pin.as_bytes());
        i16::from(mac.as_ref()[0]) != *digest
    };
    let other = others.find(differs).expect("another PIN");
    fs::write(site.pin_file(), other).expect("write a PIN");
    site.run(&["serve"]).failure(78, &["tried once"]);
    site.run(&["serve"]).failure(78, &[REFUSED_BEFORE]);
    assert_eq!(logins(&site) - before, 2);
}

#[tokio::test]
async fn instances_that_start_together_try_a_wrong_pin_once() {
    let site = site().await;
    let before = logins(&site);
    site.run(&["migrate"]).success();
    fs::write(site.pin_file(), "wrong").expect("write a PIN");
    let start = || {
        let mut command = site.command(&["serve"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("start")
    };
    let instances = [start(), start(), start()];
    for instance in instances {
        let exit = Exit::from(instance.wait_with_output().expect("its end"));
        exit.failure(78, &["hsm.tokens.pin"]);
    }
    assert_eq!(logins(&site) - before, 1);
}

#[tokio::test]
async fn an_operator_can_allow_another_attempt() {
    let site = site().await;
    let before = logins(&site);
    let silent = Fault::NoFlags(PIN_FLAGS).on("C_GetTokenInfo");
    let refuses = Fault::Return(PIN_INCORRECT).on("C_Login");
    site.faults().rules(&[silent.clone(), refuses]);
    site.run(&["serve"]).failure(78, &["tried once"]);
    site.faults().rules(&[silent]);
    site.run(&["serve"]).failure(78, &[REFUSED_BEFORE]);
    let settings = site.default_settings();
    fs::write(site.settings(), settings.clone() + "retry_pin = true\n").expect("the settings");
    Process::start(&site).await.terminate();
    assert_eq!(refusals(&site).await, []);
    // The token has accepted the PIN.
    fs::write(site.settings(), settings).expect("the settings");
    Process::start(&site).await.terminate();
    assert_eq!(logins(&site) - before, 3);
}
