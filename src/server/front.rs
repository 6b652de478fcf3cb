//! What clients are served: the API, and the dashboard beside it.

use axum::Router;
use axum::extract::Request;
use axum::response::Response;

use crate::http::{Answers, Api};

/// The whole service, as a listener for clients is given it.
#[derive(Clone, Debug)]
pub struct Front {
    pub(super) api: Api,
    pub(super) dashboard: Router,
}

impl Answers for Front {
    async fn answer(self, request: Request) -> Response {
        let page = request.uri().path().strip_prefix("/dashboard");
        if page.is_some_and(|page| page != "/" && (page.is_empty() || page.starts_with('/'))) {
            self.dashboard.answer(request).await
        } else {
            self.api.answer(request).await
        }
    }
}
