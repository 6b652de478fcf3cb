//! Reloads the TLS files when they change, and on SIGHUP.

use std::convert::Infallible;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use super::Tls;
use engine::jobs::Pulse;
use engine::settings::Stamp;

/// The polling interval. Polling also sees changes through links and on every file system.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps `tls` as current as its files, until it is dropped.
///
/// A certificate and its key are two files, written one after the other, so a change is loaded once
/// two polls see the same state. SIGHUP reloads immediately. Errors are logged once, and the
/// previous configuration stays.
pub async fn keep_current(tls: Option<Tls>, pulse: Pulse) -> Infallible {
    let mut hangup = signal(SignalKind::hangup())
        .inspect_err(
            |error| tracing::warn!(%error, "cannot handle SIGHUP: SIGHUP ends this process"),
        )
        .ok();
    let mut looks = interval(EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tried = tls.as_ref().map(|tls| tls.0.present.load().stamp.clone());
    let mut seen = tried.clone();
    loop {
        tokio::select! {
            () = received(&mut hangup) => {
                seen = stamp(&tls).await;
                tried = seen.clone();
                take_up(&tls).await;
            }
            _ = looks.tick() => {
                pulse.alive();
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

/// Resolves on SIGHUP; never, if SIGHUP cannot be handled.
async fn received(hangup: &mut Option<Signal>) {
    if let Some(signal) = hangup
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}

/// File systems can be slow, so a separate thread reads the files.
async fn stamp(tls: &Option<Tls>) -> Option<Stamp> {
    let tls = tls.clone()?;
    tokio::task::spawn_blocking(move || tls.0.files.stamp()).await.ok()
}

async fn take_up(tls: &Option<Tls>) {
    let Some(tls) = tls.clone() else {
        tracing::info!("SIGHUP ignored: TLS is off");
        return;
    };
    // It fails only after a panic, which is logged elsewhere.
    let _ = tokio::task::spawn_blocking(move || match tls.reload() {
        Ok(()) => tracing::info!(expires = %tls.expires(), "the certificate is loaded"),
        Err(error) => tracing::error!(%error, "keeping the previous certificate"),
    })
    .await;
}
