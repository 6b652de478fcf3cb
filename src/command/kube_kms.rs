//! `sealward kube-kms`: the plugin for the KMS API of Kubernetes.

use std::net::SocketAddr;
use std::path::PathBuf;

use sealward_kube_kms::{Plugin, Socket};

use super::Failure;
use super::serve::{internal, serve_always, termination_signal};
use super::service::ServiceAccess;
use engine::settings::{Log, Telemetry};
use engine::{hardening, telemetry};
use formats::clock::Clock;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    service: ServiceAccess,
    /// The Unix socket to create. The API server needs its path as the endpoint.
    #[arg(long, value_name = "FILE")]
    socket: PathBuf,
    /// Answer /healthz and /metrics at this address, for example 127.0.0.1:9182.
    #[arg(long, value_name = "ADDRESS")]
    monitor_listen: Option<SocketAddr>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    telemetry::start(&Log::default(), &Telemetry::default())?;
    hardening::report();
    let client = arguments.service.client_of_files()?;
    let monitor = internal("--monitor-listen", arguments.monitor_listen).await?;
    let socket = Socket::bind(&arguments.socket)?;
    // Signals can arrive as soon as readiness is logged.
    let stop = termination_signal();
    tracing::info!(
        socket = %arguments.socket.display(),
        monitor = monitor.as_ref().map(|monitor| tracing::field::display(monitor.address())),
        version = env!("CARGO_PKG_VERSION"),
        "ready"
    );
    let plugin = Plugin::new(&client, Clock::system());
    plugin.probe().await;
    let monitor = monitor.map(|monitor| serve_always(monitor, plugin.monitor()));
    let served = plugin.serve(socket, stop).await;
    if let Some(monitor) = monitor {
        monitor.abort();
    }
    served?;
    tracing::info!("stopped");
    Ok(())
}
