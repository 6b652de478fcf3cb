//! Clients: administrators, applications and unauthenticated ones.

use std::future::IntoFuture;
use std::pin::Pin;

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};

use super::{Answer, Process, World};

/// The service to which a client sends its requests.
#[derive(Clone, Copy)]
pub(super) enum Service<'w> {
    World(&'w World),
    Process(&'w Process),
}

impl<'w> Service<'w> {
    pub(super) fn client(self, key: &str) -> Client<'w> {
        Client::new(self, Some(format!("Bearer {key}")))
    }

    fn admin(self) -> Client<'w> {
        match self {
            Self::World(world) => world.admin(),
            Self::Process(process) => process.admin(),
        }
    }

    async fn send(self, request: Request<Body>) -> Answer {
        match self {
            Self::World(world) => world.send(request).await,
            Self::Process(process) => process.send(request).await,
        }
    }
}

/// A client that sends requests with its API key, if it has one.
#[derive(Clone)]
pub struct Client<'w> {
    to: Service<'w>,
    authorization: Option<String>,
    pub key: Option<String>,
    pub key_id: Option<String>,
    pub service: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl<'w> Client<'w> {
    pub(super) fn new(to: Service<'w>, authorization: Option<String>) -> Self {
        Self { to, authorization, key: None, key_id: None, service: None, headers: Vec::new() }
    }

    /// Adds a header to all requests.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The path of the client's API key in the management API.
    pub fn key_path(&self) -> String {
        let id = self.key_id.as_ref().expect("a key of its own");
        format!("/admin/api-keys/{id}")
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn post_nothing(&self, path: &str) -> Answer {
        self.send(Method::POST, path, None).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Sends `body` unchanged, with the content type that the method takes.
    pub async fn send_text(&self, method: Method, path: &str, body: &str) -> Answer {
        let media = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        self.send_as(media, method, path, body).await
    }

    /// Sends `body` unchanged with this content type.
    pub async fn send_as(&self, media: &str, method: Method, path: &str, body: &str) -> Answer {
        let request = self.request(method, path);
        let request = request.header(header::CONTENT_TYPE, media);
        let body = Body::from(body.to_owned());
        self.to.send(request.body(body).expect("a request")).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        match body {
            Some(body) => self.send_text(method, path, &body.to_string()).await,
            None => {
                let request = self.request(method, path).body(Body::empty());
                self.to.send(request.expect("a request")).await
            }
        }
    }

    fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request
    }
}

/// Builds an application with its service and API key.
pub struct Application<'w> {
    to: Service<'w>,
    name: String,
    key: Value,
}

impl<'w> Application<'w> {
    pub(super) fn new(to: Service<'w>, name: &str) -> Self {
        Self { to, name: name.to_owned(), key: json!({ "name": name, "type": "live" }) }
    }

    /// Binds the API key to the policy with this number.
    pub fn bound_to(self, policy: &str) -> Self {
        self.with("policyNumber", json!(policy))
    }

    /// Sets a member of the API key.
    pub fn with(mut self, member: &str, value: Value) -> Self {
        self.key[member] = value;
        self
    }
}

impl<'w> IntoFuture for Application<'w> {
    type Output = Client<'w>;
    type IntoFuture = Pin<Box<dyn Future<Output = Client<'w>> + 'w>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let admin = self.to.admin();
            let service = admin.create_service(&self.name).await;
            self.key["serviceId"] = json!(service);
            let created = admin.post("/admin/api-keys", self.key).await;
            let created = created.created();
            let key = created.text("secret");
            Client {
                service: Some(service),
                key_id: Some(created.text("id")),
                key: Some(key.clone()),
                ..self.to.client(&key)
            }
        })
    }
}
