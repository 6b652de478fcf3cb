//! A client that never repeats a request and records its result as far as a client can know it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::history::Incarnation;

/// The time limit of a request. The service answers in half of this time, also during faults.
const PATIENCE: Duration = Duration::from_secs(25);

/// The addresses of the running instances. Clones share the list.
#[derive(Clone, Default)]
pub struct Places(Arc<Mutex<Vec<Option<Place>>>>);

/// An instance that accepts requests.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub address: SocketAddr,
    pub instance: Incarnation,
}

impl Places {
    /// Sets or removes the instance at this place.
    pub fn set(&self, place: usize, now: Option<Place>) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() <= place {
            places.resize(place + 1, None);
        }
        places[place] = now;
    }

    /// The instances that currently accept requests.
    pub fn now(&self) -> Vec<Place> {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.iter().flatten().copied().collect()
    }
}

/// The result of sending a request.
pub enum Sent {
    Not,
    Lost,
    Silence,
    Answered { status: u16, request_id: Option<String>, body: String },
}

/// Keeps one connection per place.
#[derive(Default)]
pub struct Client(HashMap<usize, Connection>);

struct Connection {
    instance: Incarnation,
    sender: http1::SendRequest<Body>,
}

/// Builds a request.
pub fn request(method: Method, path: &str, key: &str, body: String) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "chaos")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from(body))
        .expect("a request")
}

impl Client {
    pub async fn send(&mut self, to: Place, request: Request<Body>) -> Sent {
        let Some(mut connection) = self.connection(to).await else {
            return Sent::Not;
        };
        match timeout(PATIENCE, exchange(&mut connection.sender, request)).await {
            Err(_) => Sent::Silence,
            Ok(sent) => {
                if !connection.sender.is_closed() {
                    self.0.insert(to.instance.place, connection);
                }
                sent
            }
        }
    }

    /// Closes all connections.
    pub fn close_connections(&mut self) {
        self.0.clear();
    }

    /// The open connection if it is usable, otherwise a new one.
    async fn connection(&mut self, to: Place) -> Option<Connection> {
        if let Some(mut connection) = self.0.remove(&to.instance.place)
            && connection.instance == to.instance
            && connection.sender.ready().await.is_ok()
        {
            return Some(connection);
        }
        let connecting = timeout(PATIENCE, TcpStream::connect(to.address)).await;
        let stream = connecting.ok()?.ok()?;
        stream.set_nodelay(true).ok()?;
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        // Errors of the connection appear in the requests.
        tokio::spawn(async move { drop(driver.await) });
        let instance = to.instance;
        Some(Connection { instance, sender })
    }
}

async fn exchange(sender: &mut http1::SendRequest<Body>, request: Request<Body>) -> Sent {
    let answer = match sender.try_send_request(request).await {
        Ok(answer) => answer,
        // The request was returned unsent.
        Err(error) if error.message().is_some() => return Sent::Not,
        Err(_) => return Sent::Lost,
    };
    let (parts, body) = answer.into_parts();
    let Ok(body) = to_bytes(Body::new(body), usize::MAX).await else {
        return Sent::Lost;
    };
    let header = parts.headers.get("x-request-id");
    Sent::Answered {
        status: parts.status.as_u16(),
        request_id: header.and_then(|id| Some(id.to_str().ok()?.to_owned())),
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}
