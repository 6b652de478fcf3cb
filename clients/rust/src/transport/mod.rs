//! Requests and their answers over HTTP.

mod answer;
mod attempts;
mod call;

use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

pub(crate) use self::answer::{Answer, ErrorObject};
pub(crate) use self::attempts::Attempts;
pub(crate) use self::call::{Call, segment};
use crate::Credential;
use crate::error::{Error, Invalid};

const AGENT: &str = concat!("sealward-rust/", env!("CARGO_PKG_VERSION"));
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const IDLE: Duration = Duration::from_secs(30);

/// The connections to a service, and what all calls have in common.
#[derive(Debug)]
pub(crate) struct Transport {
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: String,
    address: String,
    credential: Credential,
    attempts: Attempts,
}

/// What the caller chose for some calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) request_id: Option<String>,
    pub(crate) deadline: Option<Duration>,
}

impl Transport {
    pub(crate) fn new(
        base: String,
        address: String,
        credential: Credential,
        tls: ClientConfig,
        attempts: Attempts,
    ) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector.wrap_connector(tcp));
        Self { pool, base, address, credential, attempts }
    }

    /// The scheme, the host and the port of the service.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn broken(&self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error::Connection { address: self.address.clone(), source: Box::new(error) }
    }

    /// The time for a call.
    pub(crate) fn deadline(&self, overrides: &Overrides) -> Duration {
        overrides.deadline.unwrap_or(self.attempts.deadline)
    }

    /// Makes the call, with repetitions. An error status is an error.
    pub(crate) async fn answer(
        &self,
        call: &Call<'_>,
        overrides: &Overrides,
    ) -> Result<Answer, Error> {
        let mut tries = self.attempts.begin(self.deadline(overrides));
        loop {
            match tries.within(self.exchange(call, overrides)).await {
                Ok(answer) => return Ok(answer),
                Err(error) => tries.wait_after(error).await?,
            }
        }
    }

    /// The same, but the body can arrive after the deadline.
    pub(crate) async fn stream(
        &self,
        call: &Call<'_>,
        overrides: &Overrides,
    ) -> Result<Response<Incoming>, Error> {
        let mut tries = self.attempts.begin(self.deadline(overrides));
        loop {
            match tries.within(self.head(call, overrides)).await {
                Ok(response) => return Ok(response),
                Err(error) => tries.wait_after(error).await?,
            }
        }
    }

    async fn exchange(&self, call: &Call<'_>, overrides: &Overrides) -> Result<Answer, Error> {
        let response = self.send(call, overrides).await?;
        let answer = Answer::read(response).await.map_err(|error| self.broken(error))?;
        if answer.is_success() || call.takes(&answer) {
            return Ok(answer);
        }
        Err(answer.into_error(call.opens))
    }

    async fn head(
        &self,
        call: &Call<'_>,
        overrides: &Overrides,
    ) -> Result<Response<Incoming>, Error> {
        let response = self.send(call, overrides).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let answer = Answer::read(response).await.map_err(|error| self.broken(error))?;
        Err(answer.into_error(call.opens))
    }

    async fn send(
        &self,
        call: &Call<'_>,
        overrides: &Overrides,
    ) -> Result<Response<Incoming>, Error> {
        let request = self.request(call, overrides)?;
        self.pool.request(request).await.map_err(|error| self.broken(error))
    }

    fn request(
        &self,
        call: &Call<'_>,
        overrides: &Overrides,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let url = format!("{}{}", self.base, call.path_and_query());
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(url)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, call.accept);
        if !call.is_public
            && let Some(authorization) = self.credential.authorization()?
        {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(id) = &overrides.request_id {
            request = request.header(REQUEST_ID, header(id)?);
        }
        for (name, value) in &call.headers {
            request = request.header(*name, header(value)?);
        }
        if let Some(parent) = traceparent() {
            request = request.header("traceparent", header(&parent)?);
        }
        let body = match &call.body {
            Some((media, body)) => {
                request = request.header(CONTENT_TYPE, *media);
                Full::new(body.clone())
            }
            None => Full::default(),
        };
        request.body(body).map_err(|error| Error::Configuration(error.to_string()))
    }
}

fn header(text: &str) -> Result<HeaderValue, Error> {
    // hyper also takes bytes beyond ASCII, whose meaning is not defined.
    match HeaderValue::from_str(text) {
        Ok(value) if text.is_ascii() => Ok(value),
        _ => Err(Error::Invalid(Invalid::Header)),
    }
}

/// The header `traceparent` of the current span.
#[cfg(feature = "opentelemetry")]
fn traceparent() -> Option<String> {
    use opentelemetry::trace::TraceContextExt as _;

    let context = opentelemetry::Context::current();
    let span = context.span();
    let span = span.span_context();
    let (trace, parent, flags) = (span.trace_id(), span.span_id(), span.trace_flags().to_u8());
    span.is_valid().then(|| format!("00-{trace}-{parent}-{flags:02x}"))
}

#[cfg(not(feature = "opentelemetry"))]
fn traceparent() -> Option<String> {
    None
}
