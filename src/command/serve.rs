//! `sealward serve`: the service, from its first check to its last answer.

use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};

use super::{Failure, startup};
use crate::clock::{Clock, Entropy};
use crate::server::{self, Service, Tls};
use crate::settings::Environment;

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let settings = startup::prepare(config, environment)?;
    let clock = Clock::system();
    let files = settings.http.tls.files();
    let tls = files.map(|files| Tls::load(clock.clone(), files));
    let tls = tls.transpose()?;
    let listener = server::listen("http.listen", settings.http.listen).await?;
    let listener = listener.over(tls.clone());
    let database = startup::database(&settings, environment).await?;
    let limiter = startup::limiter(&settings, environment, clock.clone())?;
    limiter.find_shared().await;
    let token = hsm::Token::open(startup::tokens(&settings, environment)?).await?;
    let (delay, patience) = (settings.drain_delay(), settings.http.drain_timeout.0);

    let service = Service::start(
        clock,
        Entropy::system(),
        settings,
        database,
        token.clone(),
        limiter,
    )
    .await;
    tracing::info!(address = %listener.address(), version = env!("CARGO_PKG_VERSION"), "ready");
    let keeping = tokio::spawn(server::keep_current(tls));
    let mut lost = None;
    let stop = async {
        tokio::select! {
            () = told_to_end() => tracing::info!(?delay, "ending: not ready any more, requests are still answered"),
            fatal = token.fatal() => lost = Some(fatal),
        }
        service.drain();
    };
    let drained = listener
        .serve(service.router(), stop, delay, patience)
        .await;
    keeping.abort();
    service.finish().await;
    if let Some(fatal) = lost {
        tracing::error!(
            ?fatal,
            "the token's module is lost: start the service again"
        );
        // Threads hang inside the vendor's library, whose exit handlers could then block or crash.
        std::process::abort();
    }
    token.close().await;
    if drained {
        return Ok(());
    }
    Err(Failure::Told(format!(
        "some requests did not end within http.drain_timeout ({patience:?}) and were cut off"
    )))
}

/// Resolves on SIGTERM or on Ctrl-C. A process that cannot hear signals goes on until it is killed.
async fn told_to_end() {
    let heard = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot hear signals: this process ends only when it is killed");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = heard(SignalKind::terminate()) => {}
        () = heard(SignalKind::interrupt()) => {}
    }
}
