//! The files of TLS, watched: taken up when they have changed, and when an operator says so.

use std::convert::Infallible;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use super::Tls;
use crate::settings::Stamp;

/// How often the files are looked at. Looking, not being told, sees a change through links and on
/// every file system.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps what `tls` offers as current as its files, for as long as this is polled.
///
/// A certificate and its key are two files, written one after the other: they are taken up once
/// they look the same twice. SIGHUP takes them up at once. Files that cannot be used are told once,
/// and what was offered before is offered on.
pub async fn keep_current(tls: Option<Tls>) -> Infallible {
    let mut told = signal(SignalKind::hangup())
        .inspect_err(
            |error| tracing::warn!(%error, "cannot handle SIGHUP, which ends this process"),
        )
        .ok();
    let mut looks = interval(EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tried = tls.as_ref().map(|tls| tls.0.present.load().stamp.clone());
    let mut seen = tried.clone();
    loop {
        tokio::select! {
            () = hear(&mut told) => {
                seen = stamp(&tls).await;
                tried = seen.clone();
                take_up(&tls).await;
            }
            _ = looks.tick(), if tls.is_some() => {
                let now = stamp(&tls).await;
                let is_still = now == seen;
                seen = now;
                if is_still && seen != tried {
                    tried = seen.clone();
                    take_up(&tls).await;
                }
            }
        }
    }
}

/// Resolves on SIGHUP; never, where it cannot be heard.
async fn hear(told: &mut Option<Signal>) {
    if let Some(signal) = told
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}

/// Files may lie on a disk that answers late, so no request waits for them.
async fn stamp(tls: &Option<Tls>) -> Option<Stamp> {
    let tls = tls.clone()?;
    tokio::task::spawn_blocking(move || tls.0.files.stamp())
        .await
        .ok()
}

async fn take_up(tls: &Option<Tls>) {
    let Some(tls) = tls.clone() else {
        tracing::info!("SIGHUP ignored: TLS is off");
        return;
    };
    // It ends with an error only if it panics, which is told where it happens.
    let _ = tokio::task::spawn_blocking(move || match tls.reload() {
        Ok(()) => tracing::info!(expires = %tls.expires(), "the certificate is loaded"),
        Err(error) => tracing::error!(%error, "keeping the previous certificate"),
    })
    .await;
}
