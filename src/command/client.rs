//! The client of the management API that commands use.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use ureq::http::uri::Scheme;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use super::Failure;
use super::key::{first_line, invalid};
use engine::settings::certificates;
use engine::web_client::{client, plain_client_of_this_machine};

/// The address of the API and the credentials.
#[derive(Debug, clap::Args)]
pub(super) struct ApiAccess {
    /// The base URL of the API, for example `https://sealward.example.com`.
    #[arg(long, env = "SEALWARD_URL")]
    url: String,
    /// An admin key or an access token: the first line of this file, or of standard input for `-`.
    #[arg(long, value_name = "FILE")]
    admin_key_file: PathBuf,
    /// PEM file with the trusted CA certificates, instead of those of the system.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Longer than a token needs to generate an RSA key of 4096 bits.
const PATIENCE: Duration = Duration::from_secs(120);

/// The largest file, which is kept in memory.
const LARGEST_FILE: u64 = 1 << 30;

pub(super) struct Client {
    agent: Agent,
    url: String,
    authorization: Zeroizing<String>,
}

impl Client {
    pub(super) fn new(connection: &ApiAccess) -> Result<Self, Failure> {
        let url = connection.url.trim_end_matches('/').to_owned();
        let reach = reach(&url).ok_or_else(|| {
            Failure::Other("--url must be https://, except for this machine".to_owned())
        })?;
        let key = first_line(&connection.admin_key_file)?;
        let authorities = connection
            .ca
            .as_ref()
            .map(|path| certificates(path).map_err(|error| invalid(path, error)));
        Ok(Self {
            agent: match reach {
                Reach::OverTls => client(authorities.transpose()?.as_deref(), PATIENCE),
                Reach::OnThisMachine => plain_client_of_this_machine(PATIENCE),
            },
            url,
            authorization: Zeroizing::new(format!("Bearer {}", *key)),
        })
    }

    /// Reads a resource. An error response becomes a message.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        let request = self.agent.get(format!("{}{path}", self.url));
        let request = request.header("Authorization", self.authorization.as_str());
        self.body_of(path, request.call())
    }

    /// Reads a file and its signature. An error response becomes a message.
    pub(super) fn signed_file(
        &self,
        path: &str,
        media: &str,
    ) -> Result<(Vec<u8>, String), Failure> {
        let request = self.agent.get(format!("{}{path}", self.url));
        let request = request.header("Authorization", self.authorization.as_str());
        let unreached = |error: ureq::Error| Failure::Other(format!("{}{path}: {error}", self.url));
        let mut response = request.header("Accept", media).call().map_err(unreached)?;
        let status = response.status();
        let header = response.headers().get("X-Report-Signature");
        let signature = header.and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
        let body = response.body_mut().with_config().limit(LARGEST_FILE).read_to_vec();
        let body = body.map_err(unreached)?;
        match signature {
            Some(signature) if status.is_success() => Ok((body, signature)),
            _ => {
                let answer = serde_json::from_slice(&body).unwrap_or_default();
                Err(Failure::Other(refusal(status.as_u16(), &answer)))
            }
        }
    }

    /// Posts a body and returns the body of the response. An error response becomes a message.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let request = self
            .agent
            .post(format!("{}{path}", self.url))
            .header("Authorization", self.authorization.as_str())
            .header("Content-Type", "application/json");
        self.body_of(path, request.send(body.to_string()))
    }

    fn body_of(
        &self,
        path: &str,
        sent: Result<Response<Body>, ureq::Error>,
    ) -> Result<Value, Failure> {
        let unreached = |error: ureq::Error| Failure::Other(format!("{}{path}: {error}", self.url));
        let mut response = sent.map_err(unreached)?;
        let status = response.status();
        let text = response.body_mut().read_to_string().map_err(unreached)?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if status.is_success() {
            return Ok(answer);
        }
        Err(Failure::Other(refusal(status.as_u16(), &answer)))
    }
}

/// The message of an error response.
fn refusal(status: u16, answer: &Value) -> String {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let message = text("/error/message").unwrap_or("the response is not from Sealward");
    let mut lines = vec![format!("{status}: {message}")];
    let details = answer.pointer("/error/details").and_then(Value::as_array);
    for detail in details.into_iter().flatten() {
        let part = |name: &str| detail.get(name).and_then(Value::as_str).unwrap_or_default();
        lines.push(format!("  {}: {}", part("field"), part("message")));
    }
    lines.extend(text("/requestId").map(|id| format!("  (request {id})")));
    lines.join("\n")
}

/// How a request reaches the server without being readable on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    OverTls,
    OnThisMachine,
}

/// How the server of this URL is reached; none for plaintext to another machine.
fn reach(url: &str) -> Option<Reach> {
    let url: Uri = url.parse().ok()?;
    if url.scheme() == Some(&Scheme::HTTPS) {
        return Some(Reach::OverTls);
    }
    let host = url.host()?;
    let is_here = matches!(host, "localhost" | "[::1]")
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_here.then_some(Reach::OnThisMachine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_is_only_allowed_to_this_machine() {
        for url in ["https://example.com", "HTTPS://localhost:8443"] {
            assert_eq!(reach(url), Some(Reach::OverTls), "{url}");
        }
        for url in [
            "http://localhost",
            "http://localhost:8080/x",
            "HTTP://127.0.0.1:80",
            "http://[::1]:8080",
        ] {
            assert_eq!(reach(url), Some(Reach::OnThisMachine), "{url}");
        }
        for url in [
            "http://example.com",
            "HTTP://example.com",
            "http://localhost.example.com:80",
            "http://10.0.0.1",
            "http://127.0.0.1.example.com",
            "http://localhost@example.com",
            "example.com",
            "",
        ] {
            assert_eq!(reach(url), None, "{url}");
        }
    }

    #[test]
    fn a_refusal_is_reported_with_its_details() {
        let answer = serde_json::json!({
            "error": {
                "code": "INVALID_REQUEST", "message": "The request is not valid",
                "details": [{"field": "use", "code": "conflict", "message": "cannot be"}],
            },
            "requestId": "req_1",
        });
        assert_eq!(
            refusal(400, &answer),
            "400: The request is not valid\n  use: cannot be\n  (request req_1)"
        );
    }
}
