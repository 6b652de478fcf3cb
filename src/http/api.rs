//! The API as a whole: it frames every request and routes it.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tower::ServiceExt as _;

use super::app::{App, AppState};
use super::frame::frame;
use super::router::{names, router};

/// Answers every request to the API. Cheap to clone.
///
/// The frame is not a layer of the router: each layer would add heap allocations to every request.
#[derive(Clone)]
pub struct Api {
    app: Arc<AppState>,
    router: Router,
    names: Arc<matchit::Router<&'static str>>,
}

impl Api {
    /// The API over `app`.
    pub fn new(app: Arc<AppState>) -> Self {
        let router = router(App(app.clone()));
        let mut known = matchit::Router::new();
        for name in names() {
            // The router has accepted the same paths, so they do not conflict.
            let _ = known.insert(name, name);
        }
        Self { app, router, names: Arc::new(known) }
    }

    /// Handles one request.
    pub async fn answer(self, request: Request) -> Response {
        let Self { app, router, names } = self;
        let known = names.at(request.uri().path()).ok();
        let name = known.map(|known| *known.value);
        let routed = async |request| {
            let Ok(response) = router.oneshot(request).await;
            response
        };
        frame(&app, name, request, routed).await
    }
}
