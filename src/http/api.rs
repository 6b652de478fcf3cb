//! The API as a whole: every request framed, and answered by its route.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;

use super::answers::Answers;
use super::app::App;
use super::frame::frame;
use super::router::{names, router};

/// Answers whatever is asked of the API.
///
/// The frame is around the router and no layer of it: each layer would take every request through
/// boxes on the heap.
#[derive(Clone, Debug)]
pub struct Api {
    app: App,
    router: Router,
    names: Arc<matchit::Router<&'static str>>,
}

impl Api {
    /// The API over `app`.
    pub fn new(app: App) -> Self {
        let mut known = matchit::Router::new();
        for name in names() {
            // Two that cannot be told apart would have ended the router before.
            let _ = known.insert(name, name);
        }
        Self {
            router: router(app.clone()),
            app,
            names: Arc::new(known),
        }
    }
}

impl Answers for Api {
    async fn answer(self, request: Request) -> Response {
        let Self { app, router, names } = self;
        let known = names.at(request.uri().path()).ok();
        let name = known.map(|known| *known.value);
        frame(&app, name, request, |request| router.answer(request)).await
    }
}
