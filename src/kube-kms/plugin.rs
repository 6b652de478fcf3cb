//! The plugin: its calls on a socket, and its pages for monitoring.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use formats::clock::Clock;
use sealward_client::Client;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tonic::transport::Server;

use crate::connections::connections;
use crate::meter::CallMeter;
use crate::monitor;
use crate::probe::Probes;
use crate::proto::key_management_service_server::KeyManagementServiceServer;
use crate::service::Calls;
use crate::socket::Socket;

/// The time for a call to Sealward with all its attempts. The API server gives up after 3 s by default, and then
/// does not show the reason.
const DEADLINE: Duration = Duration::from_millis(2_500);
/// The time for calls in progress at the end.
const DRAIN: Duration = Duration::from_secs(5);
/// The maximum size of a request. A ciphertext has at most 1 kB, and this plugin makes no annotations.
const MAX_MESSAGE: usize = 64 * 1024;

/// The plugin.
#[derive(Debug)]
pub struct Plugin {
    sealward: Client,
    probes: Probes,
    meter: CallMeter,
    clock: Clock,
}

/// The socket cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum CannotServe {
    /// The runtime refuses the socket.
    #[error("cannot listen on the socket: {0}")]
    Listen(#[from] std::io::Error),
    /// Connections cannot be accepted.
    #[error("cannot serve the socket: {0}")]
    Transport(#[from] tonic::transport::Error),
}

impl Plugin {
    /// A plugin that encrypts with the newest AES-256 key of the service that this client belongs to.
    pub fn new(sealward: &Client, clock: Clock) -> Self {
        let sealward = sealward.with_deadline(DEADLINE);
        let probes = Probes::new(sealward.clone(), clock.clone());
        Self { sealward, probes, meter: CallMeter::new(), clock }
    }

    /// Probes, so that the log shows at the start whether the plugin can encrypt.
    pub async fn probe(&self) {
        let _ = self.probes.health().await;
    }

    /// `/healthz` and `/metrics`.
    pub fn monitor(&self) -> Router {
        monitor::router(self.probes.clone(), &self.meter)
    }

    /// Answers the calls on this socket until `stop` resolves, and removes the socket. Calls in progress have 5 s
    /// to finish.
    pub async fn serve(
        self,
        socket: Socket,
        stop: impl Future<Output = ()>,
    ) -> Result<(), CannotServe> {
        let (listener, _removed_at_the_end) = socket.into_listener()?;
        let Self { sealward, probes, meter, clock } = self;
        let calls = KeyManagementServiceServer::new(Calls { sealward, probes, meter, clock })
            .max_decoding_message_size(MAX_MESSAGE);
        let (stopping, stopped) = oneshot::channel();
        let listener = Arc::new(listener);
        let accepted = connections(move || {
            let listener = Arc::clone(&listener);
            async move { listener.accept().await.map(|(connection, _)| connection) }
        });
        let served = Server::builder().add_service(calls).serve_with_incoming_shutdown(
            accepted,
            async move {
                stop.await;
                let _ = stopping.send(());
            },
        );
        tokio::select! {
            served = served => Ok(served?),
            () = async { let _ = stopped.await; sleep(DRAIN).await } => {
                tracing::warn!("some calls exceeded {DRAIN:?} and were aborted");
                Ok(())
            }
        }
    }
}
