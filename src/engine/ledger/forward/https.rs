//! Batches of NDJSON over HTTPS.

use std::io;

use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, Request, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use secrecy::ExposeSecret as _;
use tokio::task::spawn_blocking;

use super::connection::{CollectorError, Connector};
use super::entry::ForwardedRecord;
use crate::settings::{Endpoint, Environment, Forward, SecretSource};

/// The longest answer after which the connection is used again.
const LONGEST_ANSWER: usize = 64 * 1024;

/// An HTTPS collector.
#[derive(Debug)]
pub(super) struct Https {
    connector: Connector,
    host: String,
    path: PathAndQuery,
    secret: Option<Secret>,
    connection: Option<CollectorConnection>,
}

/// The source of the secret, which is read for each connection.
#[derive(Clone, Debug)]
struct Secret {
    header: HeaderName,
    source: SecretSource,
    environment: Environment,
}

/// A connection and the header with the secret.
#[derive(Debug)]
struct CollectorConnection {
    sender: SendRequest<Full<Bytes>>,
    secret: Option<(HeaderName, HeaderValue)>,
}

impl Secret {
    fn read(&self) -> Result<HeaderValue, CollectorError> {
        let secret = self.source.reveal(&self.environment)?;
        let value = HeaderValue::try_from(secret.expose_secret());
        let mut value = value.map_err(|_| CollectorError::Secret)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl Https {
    pub(super) fn new(
        connector: Connector,
        settings: &Forward,
        endpoint: &Endpoint,
        environment: &Environment,
    ) -> Result<Self, CollectorError> {
        let secret = match &settings.secret {
            None => None,
            Some(source) => Some(Secret {
                header: HeaderName::try_from(&settings.header)
                    .map_err(|_| CollectorError::Secret)?,
                source: source.clone(),
                environment: environment.clone(),
            }),
        };
        if let Some(secret) = &secret {
            secret.read()?;
        }
        Ok(Self {
            connector,
            host: format!("{}:{}", endpoint.host, endpoint.port),
            path: endpoint.path.clone(),
            secret,
            connection: None,
        })
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.sender.is_closed())
    }

    pub(super) async fn send(&mut self, batch: &[ForwardedRecord]) -> Result<(), CollectorError> {
        let connector = self.connector.clone();
        let connection = match self.connection.take() {
            Some(connection) if !connection.sender.is_closed() => connection,
            Some(_) | None => self.connect().await?,
        };
        self.connection = connector.in_time(self.post(connection, batch)).await?;
        Ok(())
    }

    async fn connect(&self) -> Result<CollectorConnection, CollectorError> {
        let secret = match self.secret.clone() {
            None => None,
            Some(secret) => {
                let header = secret.header.clone();
                // The source can be a program.
                let read = spawn_blocking(move || secret.read()).await;
                Some((header, read.map_err(io::Error::other)??))
            }
        };
        let stream = TokioIo::new(self.connector.connect().await?);
        let (sender, connection) = http1::handshake(stream).await?;
        // The task ends with the sender. Requests report its errors.
        tokio::spawn(connection);
        Ok(CollectorConnection { sender, secret })
    }

    /// Sends a request. Returns the connection if it can be used again.
    async fn post(
        &self,
        mut connection: CollectorConnection,
        batch: &[ForwardedRecord],
    ) -> Result<Option<CollectorConnection>, CollectorError> {
        let lines: String = batch.iter().flat_map(|it| [it.line.as_str(), "\n"]).collect();
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
        if let Some((name, value)) = &connection.secret {
            headers.insert(name, value.clone());
        }
        connection.sender.ready().await?;
        let answer = connection.sender.send_request(request).await?;
        let status = answer.status();
        let is_read = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await.is_ok();
        if status.is_success() {
            Ok(is_read.then_some(connection))
        } else {
            Err(CollectorError::Refused(status.as_u16()))
        }
    }
}
