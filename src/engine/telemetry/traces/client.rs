//! The HTTP client of the exporter, which the rest of the service also uses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls::pki_types::CertificateDer;
use ureq::Agent;

use crate::web_client::client;

/// The timeout of a request to the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends spans to the collector. The exporter calls it on a separate thread, so it can block.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    is_failing: AtomicBool,
}

impl Client {
    pub(super) fn new(authorities: Option<&[CertificateDer<'_>]>) -> Self {
        Self { agent: client(authorities, TIMEOUT), is_failing: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let request = self
            .agent
            .configure_request(Request::from_parts(parts, &*body))
            .http_status_as_error(true)
            .build();
        let response = self.agent.run(request)?;
        let (parts, mut body) = response.into_parts();
        Ok(Response::from_parts(parts, body.read_to_vec()?.into()))
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let address = request.uri().to_string();
        let sent = self.send(request);
        let was_failing = self.is_failing.swap(sent.is_err(), Ordering::Relaxed);
        match &sent {
            Err(error) if !was_failing => {
                tracing::warn!(%error, address, "traces cannot be sent and are dropped");
            }
            Ok(_) if was_failing => tracing::info!("traces are sent again"),
            Ok(_) | Err(_) => {}
        }
        sent
    }
}
