//! An instance that listens on ports of its own.

use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use engine::settings::Http;
use sealward::server::{Connections, Listener, Timeouts, Tls, listen};

use super::World;

impl World {
    /// The handler of metrics for a listener.
    pub async fn metrics(&self, tls: Option<Tls>) -> Router {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = listen("http.listen", any_port).await.expect("a port");
        self.service.metrics(tls, listener.connections())
    }

    /// Listens on a free port for clients outside this process and returns the address.
    pub async fn served(&self, tls: Option<Tls>) -> SocketAddr {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = listen("http.listen", any_port).await.expect("a port");
        self.serve(listener.over(tls))
    }

    /// Listens with these connection and time limits. Also returns the connections.
    pub async fn with_limits(
        &self,
        connections: u32,
        timeouts: Timeouts,
    ) -> (SocketAddr, Connections) {
        let http = Http::default();
        self.limited(connections, timeouts, &http).await
    }

    /// The same with the connections per address in these settings.
    pub async fn limited(
        &self,
        connections: u32,
        timeouts: Timeouts,
        http: &Http,
    ) -> (SocketAddr, Connections) {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = listen("http.listen", any_port).await.expect("a port");
        let listener = listener.for_at_most(connections, http).with(timeouts);
        let connections = listener.connections();
        (self.serve(listener), connections)
    }

    /// Serves the connections of a listener.
    pub fn serve(&self, listener: Listener) -> SocketAddr {
        let address = listener.address();
        // The task ends with the runtime of the test.
        let (front, at_once) = (self.front(), Duration::ZERO);
        tokio::spawn(listener.serve(front, pending(), at_once, at_once));
        address
    }
}
