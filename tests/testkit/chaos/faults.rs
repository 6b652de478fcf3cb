//! Injects the faults of a plan. Steps of one component run in sequence. No step starts after the end
//! of the run.

use std::time::Duration;

use faulty_token::{Control, Fault, Rule};
use rustix::process::Signal;
use sqlx::ConnectOptions as _;
use tokio::time::sleep;

use super::history::{Moment, Span};
use super::instances::Instances;
use super::plan::{InstanceFault, PostgresFault, Step, TokenFault, ValkeyFault};
use super::run_log::RunLog;
use crate::{Cluster, Valkey};

/// The added latency of a slow Postgres, in each direction.
const LATE: Duration = Duration::from_millis(60);

/// The duration of a call of a slow token.
const SLOW: Duration = Duration::from_millis(150);

/// The pause between two cuts of the notification connections.
const CUTS: Duration = Duration::from_millis(30);

/// The PKCS#11 return codes of a broken device and of a missing token.
const DEVICE_ERROR: u64 = 0x30;
const TOKEN_NOT_PRESENT: u64 = 0xe0;

pub(super) async fn on_postgres(
    cluster: &mut Cluster,
    run_log: &RunLog,
    steps: &[Step<PostgresFault>],
    until: Moment,
) {
    for step in steps {
        sleep(step.after).await;
        let began = run_log.now();
        if began > until {
            return;
        }
        match step.what {
            PostgresFault::Frozen => {
                cluster.freeze();
                sleep(step.lasts).await;
                cluster.thaw();
            }
            PostgresFault::Stopped => {
                cluster.stop().await;
                sleep(step.lasts).await;
                cluster.start_again().await;
            }
            PostgresFault::Crashed => {
                cluster.crash().await;
                sleep(step.lasts).await;
                cluster.start_again().await;
            }
            PostgresFault::CutOff => {
                cluster.proxy.close_connections();
                sleep(step.lasts).await;
                cluster.proxy.resume();
            }
            PostgresFault::Silent => {
                cluster.proxy.stall();
                sleep(step.lasts).await;
                cluster.proxy.resume();
            }
            PostgresFault::Slow => {
                cluster.proxy.slow_down(LATE);
                sleep(step.lasts).await;
                cluster.proxy.slow_down(Duration::ZERO);
            }
            PostgresFault::NotificationsCut => cut_notifications(cluster, step.lasts).await,
        }
        run_log.event(began, format!("Postgres {:?}", step.what));
        let span = run_log.since(began);
        run_log.lock().instance_changes.push(span);
    }
}

async fn cut_notifications(cluster: &Cluster, lasts: Duration) {
    let cutting = async {
        let connected = cluster.past_proxy().connect().await;
        let mut connection = connected.expect("a connection past the proxy");
        let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE starts_with(application_name, $1)";
        loop {
            let cut = sqlx::query(cut).bind(engine::catalog::LISTENER);
            cut.execute(&mut connection).await.expect("cut them");
            sleep(CUTS).await;
        }
    };
    // The fault continues until the end of the step.
    let _: Result<(), _> = tokio::time::timeout(lasts, cutting).await;
}

pub(super) async fn on_valkey(
    valkey: &Valkey,
    run_log: &RunLog,
    steps: &[Step<ValkeyFault>],
    until: Moment,
) {
    for step in steps {
        sleep(step.after).await;
        let began = run_log.now();
        if began > until {
            return;
        }
        match step.what {
            ValkeyFault::CutOff => valkey.proxy.close_connections(),
            ValkeyFault::Silent => valkey.proxy.stall(),
        }
        sleep(step.lasts).await;
        valkey.proxy.resume();
        run_log.event(began, format!("Valkey {:?}", step.what));
        let span = run_log.since(began);
        run_log.lock().limiter_outages.push(span);
    }
}

pub(super) async fn on_token(
    token: &Control,
    run_log: &RunLog,
    steps: &[Step<TokenFault>],
    until: Moment,
) {
    for step in steps {
        sleep(step.after).await;
        let began = run_log.now();
        if began > until {
            return;
        }
        token.rules(&rules(step.what));
        sleep(step.lasts).await;
        token.rules(&[]);
        run_log.event(began, format!("token {:?}", step.what));
        let span = run_log.since(began);
        run_log.lock().history.token_faults.push(span);
    }
}

fn rules(fault: TokenFault) -> Vec<Rule> {
    let all = |functions: &[&str], fault: Fault| {
        let rules = functions.iter().map(|function| fault.on(function));
        rules.collect()
    };
    let work = ["C_Decrypt", "C_Sign", "C_Encrypt", "C_DeriveKey"];
    match fault {
        TokenFault::Failing => all(&work, Fault::Return(DEVICE_ERROR)),
        TokenFault::Slow => all(&work, Fault::Delay(SLOW)),
        TokenFault::Hanging => all(&work, Fault::Hang),
        TokenFault::Away => {
            let entry = ["C_GetTokenInfo", "C_OpenSession", "C_GetSessionInfo"];
            let operations = ["C_DecryptInit", "C_SignInit", "C_EncryptInit", "C_DeriveKey"];
            all(&[entry.as_slice(), &operations].concat(), Fault::Return(TOKEN_NOT_PRESENT))
        }
        TokenFault::SessionsDropped => vec![Fault::DropSessions.on("C_DecryptInit").calls(2..=2)],
        TokenFault::LoginDropped => vec![Fault::DropLogin.on("C_DecryptInit").calls(2..=2)],
    }
}

pub(super) async fn on_instances(
    instances: &mut Instances<'_>,
    run_log: &RunLog,
    steps: &[Step<InstanceFault>],
    until: Moment,
) {
    for step in steps {
        instances.watch(step.after).await;
        let began = run_log.now();
        if began > until {
            return;
        }
        match step.what {
            InstanceFault::Killed(place) => {
                instances.kill(place);
                instances.watch(step.lasts).await;
                instances.start_at(place).await;
            }
            InstanceFault::Ended(place) => {
                instances.end(place).await;
                instances.watch(step.lasts).await;
                instances.start_at(place).await;
            }
            InstanceFault::Replaced => {
                for place in 0..instances.number() {
                    instances.end(place).await;
                    instances.start_at(place).await;
                }
            }
            InstanceFault::Frozen(place) => {
                instances.signal(place, Signal::STOP);
                sleep(step.lasts).await;
                instances.signal(place, Signal::CONT);
            }
        }
        run_log.event(began, format!("instance {:?}", step.what));
        let span = run_log.since(began);
        run_log.lock().instance_changes.push(span);
    }
}

/// Whether two spans are close enough to affect each other.
pub(super) fn is_close(one: Span, other: Span) -> bool {
    const CLOSE: Duration = Duration::from_secs(3);
    let widened = Span { from: one.from.saturating_sub(CLOSE), to: one.to + CLOSE };
    widened.meets(other)
}
