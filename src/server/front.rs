//! The routes of a listener: the APIs and the dashboard, or a router.

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tower::ServiceExt as _;

use super::framing;
use engine::web::RefusedHead;
use sealward_http::Api;
use sealward_transit::TransitApi;

/// Answers requests. Cheap to clone.
pub trait Answers: Clone + Send + 'static {
    fn answer(self, request: Request) -> impl Future<Output = Response> + Send;

    /// The response to a request that is refused because of its headers. Its body is not read.
    fn refuse(
        self,
        refused: RefusedHead,
        request: Request,
    ) -> impl Future<Output = Response> + Send;
}

/// The APIs and the dashboard.
#[derive(Clone)]
pub struct Front {
    pub(super) api: Api,
    pub(super) transit: TransitApi,
    pub(super) dashboard: Router,
}

impl Answers for Router {
    async fn answer(self, request: Request) -> Response {
        let Ok(response) = self.oneshot(request).await;
        response
    }

    async fn refuse(self, _: RefusedHead, _: Request) -> Response {
        framing::refusal()
    }
}

impl Answers for Front {
    async fn answer(self, request: Request) -> Response {
        let path = request.uri().path();
        if is_page(path) {
            self.dashboard.answer(request).await
        } else if is_transit(path) {
            // Requests of the other API do not carry its state.
            Box::pin(self.transit.answer(request)).await
        } else {
            self.api.answer(request).await
        }
    }

    async fn refuse(self, refused: RefusedHead, mut request: Request) -> Response {
        request.extensions_mut().insert(refused);
        match is_transit(request.uri().path()) {
            true => Box::pin(self.transit.answer(request)).await,
            false => self.api.answer(request).await,
        }
    }
}

/// Whether the dashboard answers at this path: all paths below its folder, but not the folder with
/// a trailing slash.
fn is_page(path: &str) -> bool {
    let inside = path.strip_prefix("/dashboard");
    inside.is_some_and(|inside| inside.is_empty() || inside.len() > 1 && inside.starts_with('/'))
}

/// Whether the Transit API answers at this path.
fn is_transit(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_dashboard_are_embedded() {
        for page in ["/dashboard", "/dashboard/keys", "/dashboard/keys/"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/", "/dashboard/", "/dashboards", "/admin/dashboard", "*", ""] {
            assert!(!is_page(other), "{other}");
        }
    }
}
