//! Batches of NDJSON over HTTPS.

use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use secrecy::{ExposeSecret as _, SecretString};

use super::connection::{CollectorError, Connector};
use super::entry::Entry;
use crate::settings::{Endpoint, Forward};

/// The longest answer after which the connection is used again.
const LONGEST_ANSWER: usize = 64 * 1024;

/// An HTTPS collector.
#[derive(Debug)]
pub(super) struct Https {
    connector: Connector,
    host: String,
    path: PathAndQuery,
    secret: Option<(HeaderName, HeaderValue)>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Https {
    pub(super) fn new(
        connector: Connector,
        settings: &Forward,
        endpoint: &Endpoint,
        secret: Option<&SecretString>,
    ) -> Result<Self, CollectorError> {
        let secret = secret.map(|secret| {
            let name = HeaderName::try_from(&settings.header);
            let value = HeaderValue::try_from(secret.expose_secret());
            let (Ok(name), Ok(mut value)) = (name, value) else {
                return Err(CollectorError::Secret);
            };
            value.set_sensitive(true);
            Ok((name, value))
        });
        Ok(Self {
            connector,
            host: format!("{}:{}", endpoint.host, endpoint.port),
            path: endpoint.path.clone(),
            secret: secret.transpose()?,
            sender: None,
        })
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(super) fn disconnect(&mut self) {
        self.sender = None;
    }

    pub(super) fn is_connected(&self) -> bool {
        self.sender
            .as_ref()
            .is_some_and(|sender| !sender.is_closed())
    }

    pub(super) async fn send(&mut self, batch: &[Entry]) -> Result<(), CollectorError> {
        let connector = self.connector.clone();
        let sender = match self.sender.take() {
            Some(sender) if !sender.is_closed() => sender,
            Some(_) | None => connect(&connector).await?,
        };
        self.sender = connector.in_time(self.post(sender, batch)).await?;
        Ok(())
    }

    /// Sends a request. Returns the connection if it can be used again.
    async fn post(
        &self,
        mut sender: SendRequest<Full<Bytes>>,
        batch: &[Entry],
    ) -> Result<Option<SendRequest<Full<Bytes>>>, CollectorError> {
        let lines: String = batch
            .iter()
            .flat_map(|it| [it.line.as_str(), "\n"])
            .collect();
        let mut request = Request::new(Full::from(lines));
        *request.method_mut() = axum::http::Method::POST;
        *request.uri_mut() = self.path.clone().into();
        let headers = request.headers_mut();
        // A host of a URL that was parsed is the value of a header.
        if let Ok(host) = HeaderValue::try_from(&self.host) {
            headers.insert(header::HOST, host);
        }
        let kind = HeaderValue::from_static("application/x-ndjson");
        headers.insert(header::CONTENT_TYPE, kind);
        if let Some((name, value)) = &self.secret {
            headers.insert(name, value.clone());
        }
        sender.ready().await?;
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let is_read = Limited::new(answer.into_body(), LONGEST_ANSWER)
            .collect()
            .await
            .is_ok();
        if status.is_success() {
            Ok(is_read.then_some(sender))
        } else {
            Err(CollectorError::Refused(status.as_u16()))
        }
    }
}

async fn connect(connector: &Connector) -> Result<SendRequest<Full<Bytes>>, CollectorError> {
    let stream = TokioIo::new(connector.connect().await?);
    let (sender, connection) = http1::handshake(stream).await?;
    // The task ends with the sender. Requests report its errors.
    tokio::spawn(connection);
    Ok(sender)
}
