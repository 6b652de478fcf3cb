//! `sealward serve`: runs the service.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Failure, startup};
use crate::server::{self, CannotListen, Listener, Service, Tls};
use engine::management::security::SecurityLog;
use engine::management::{Actor, Event};
use engine::meter::TokenTimes;
use engine::seals::NotDerived;
use engine::settings::{Environment, Http};
use formats::clock::{Clock, Entropy};

/// The timeout for sending the last traces.
const LAST_TRACES: Duration = Duration::from_secs(2);

/// The timeout for recording an event of the instance.
const EVENT_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of connections to the listener of metrics, and to the listener of probes.
const INTERNAL_CONNECTIONS: u32 = 32;
/// As above, from one address.
const INTERNAL_CONNECTIONS_PER_ADDRESS: u32 = 8;

pub(super) async fn run(config: Option<&Path>, environment: &Environment) -> Result<(), Failure> {
    let (settings, traces) = startup::prepare_to_serve(config, environment)?;
    let clock = Clock::system();
    let files = settings.tls_files();
    let tls = files.map(|files| Tls::load(clock.clone(), files));
    let tls = tls.transpose()?;
    let listener = server::listen("http.listen", settings.http.listen).await?;
    let listener = listener
        .over(tls.clone())
        .for_at_most(server::connections_allowed(&settings), &settings.http)
        .with(server::Timeouts::of(&settings.http))
        .receiving(&settings.limits);
    let database = startup::database(&settings, environment).await?;
    startup::check_login(&settings, &database).await?;
    let limiter = startup::limiter(&settings, environment, clock.clone())?;
    limiter.find_shared().await;
    let collector = startup::collector(&settings, environment)?;
    let provider = startup::provider(&settings, environment, clock.clone())?;
    let metrics = internal("metrics.listen", settings.metrics.listen).await?;
    let probes = internal("http.probe_listen", settings.http.probe_listen).await?;
    let token_times = TokenTimes::default();
    let tokens = hsm::Config {
        observer: Some(Arc::new(token_times.clone())),
        ..startup::tokens(&settings, environment, Some(database.pool()))?
    };
    let token = match hsm::Token::open_when_reached(tokens).await {
        Ok(token) => token,
        Err(error) => {
            if error.is_pin_refusal() {
                let (log, _) = SecurityLog::open(clock, Entropy::system(), database.pool().clone());
                record(&log, Event::pin_refused(&error.to_string())).await;
            }
            return Err(error.into());
        }
    };
    match database.pool().seals().open(&token).await {
        Ok(()) => {}
        Err(error @ (NotDerived::Out(_) | NotDerived::Database(_))) => {
            tracing::error!(%error, "starting without a row key");
        }
        Err(error @ NotDerived::Uninitialized) => {
            token.close().await;
            return Err(error.into());
        }
    }
    let (delay, patience) = (settings.drain_delay(), settings.http.drain_timeout.0);

    let mut service = Service::start(
        (clock, Entropy::system()),
        settings,
        database.pool().clone(),
        token.clone(),
        token_times,
        limiter,
        provider,
    )
    .await?;
    if let Some(collector) = collector {
        service.forward(collector);
    }
    record(service.security(), Event::started()).await;
    // Signals can arrive as soon as readiness is logged.
    let terminated = termination_signal();
    tracing::info!(
        address = %listener.address(),
        metrics = metrics.as_ref().map(|metrics| tracing::field::display(metrics.address())),
        probes = probes.as_ref().map(|probes| tracing::field::display(probes.address())),
        version = env!("CARGO_PKG_VERSION"),
        "ready"
    );
    // Metrics and probes are served until the last request is answered.
    let metrics = metrics.map(|metrics| {
        let router = service.metrics(tls.clone(), listener.connections());
        serve_always(metrics, router)
    });
    let probes = probes.map(|probes| serve_always(probes, service.probes()));
    service.reload(tls);
    service.follow(database);
    let mut lost = None;
    let stop = async {
        tokio::select! {
            () = terminated => tracing::info!(?delay, "shutting down: not ready, requests are still answered"),
            fatal = token.fatal() => lost = Some(fatal),
        }
        service.drain();
    };
    let drained = listener.serve(service.front(), stop, delay, patience).await;
    for internal in [metrics, probes].into_iter().flatten() {
        internal.abort();
    }
    record(service.security(), Event::stopped()).await;
    service.finish().await;
    if let Some(traces) = traces {
        traces.finish(LAST_TRACES).await;
    }
    if let Some(fatal) = lost {
        tracing::error!(?fatal, "the PKCS#11 module hangs: restart the service");
        // Threads hang in the PKCS#11 module, whose exit handlers could block or crash.
        std::process::abort();
    }
    token.close().await;
    if drained {
        return Ok(());
    }
    Err(Failure::Other(format!(
        "some requests exceeded http.drain_timeout ({patience:?}) and were aborted"
    )))
}

/// Binds a listener for monitoring, if `setting` has an address.
pub(super) async fn internal(
    setting: &'static str,
    address: Option<SocketAddr>,
) -> Result<Option<Listener>, CannotListen> {
    let Some(address) = address else {
        return Ok(None);
    };
    let limits =
        Http { max_connections_per_address: INTERNAL_CONNECTIONS_PER_ADDRESS, ..Http::default() };
    let listener = server::listen(setting, address).await?;
    Ok(Some(listener.for_at_most(INTERNAL_CONNECTIONS, &limits)))
}

/// Serves until the task is aborted.
pub(super) fn serve_always(listener: Listener, router: Router) -> JoinHandle<bool> {
    let never = std::future::pending();
    tokio::spawn(listener.serve(router, never, Duration::ZERO, Duration::ZERO))
}

/// Records an event of this instance. Without the database, the log has it.
async fn record(log: &SecurityLog, event: Event) {
    let actor = Actor::system("sealward serve");
    let recorded = timeout(EVENT_TIMEOUT, log.record(&actor, event));
    match recorded.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "an event of this instance could not be recorded"),
        Err(_) => tracing::warn!("an event of this instance could not be recorded in time"),
    }
}

/// Resolves on SIGTERM or Ctrl-C after this call. If signals cannot be handled, it never resolves.
pub(super) fn termination_signal() -> impl Future<Output = ()> {
    let received = |kind| {
        let handled = signal(kind);
        async move {
            match handled {
                Ok(mut signal) => {
                    signal.recv().await;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot handle signals: only SIGKILL ends this process");
                    std::future::pending::<()>().await;
                }
            }
        }
    };
    let (terminated, interrupted) =
        (received(SignalKind::terminate()), received(SignalKind::interrupt()));
    async move {
        tokio::select! {
            () = terminated => {}
            () = interrupted => {}
        }
    }
}
