//! The API as a whole: it frames every request and routes it.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};

use crate::errors::Refused;
use crate::frame::{TransitFrame, check_site, check_wrapping};
use crate::held::Sender;
use crate::route::{Route, Verb};
use crate::state::Transit;
use crate::{data, keys, random, session, system};
use engine::receive::{note_client, refused_head, request_tag};
use formats::problem::Problem;

/// Answers every request to the API. Cheap to clone.
#[derive(Clone)]
pub struct TransitApi(Arc<Transit>);

impl TransitApi {
    /// The API over these parts of the service.
    pub fn new(transit: Transit) -> Self {
        Self(Arc::new(transit))
    }

    /// Handles one request to a path below `/v1/`.
    pub async fn answer(self, mut request: Request) -> Response {
        let Self(state) = self;
        let engine = &state.engine;
        note_client(engine, &mut request);
        let (tag, wrong_tag) = match request_tag(engine, &request) {
            Ok(tag) => (tag, None),
            Err(problem) => (engine.new_request_tag(), Some(problem)),
        };
        let settings = &engine.settings.transit;
        let path = request.uri().path().strip_prefix("/v1/").unwrap_or_default().to_owned();
        let route = Route::of(&path, &settings.mount).filter(|_| settings.enabled);
        let handle = async |request: Request| {
            let checked = check(&request, wrong_tag, settings.enabled, &path);
            let checked = checked.and_then(|()| route.ok_or_else(|| Refused::no_handler(&path)));
            match checked {
                Ok(route) => dispatch(&state, route, request).await,
                Err(refused) if route.is_some_and(Route::is_repeated) => {
                    let sender = Sender::of(request.extensions());
                    drop(request);
                    state.held.hold(sender, refused).await
                }
                Err(refused) => refused.into_response(),
            }
        };
        engine.frame::<TransitFrame, _>(route.map(Route::template), tag, request, handle).await
    }
}

/// Refuses requests by their headers, and all of them while the API is off.
fn check(
    request: &Request,
    wrong_tag: Option<Problem>,
    is_enabled: bool,
    path: &str,
) -> Result<(), Refused> {
    if !is_enabled {
        return Err(Refused::no_handler(path));
    }
    if let Some(problem) = wrong_tag.or_else(|| refused_head(request)) {
        return Err(problem.into());
    }
    check_site(request.headers())?;
    check_wrapping(request.headers())
}

async fn dispatch(state: &Arc<Transit>, route: Route<'_>, request: Request) -> Response {
    let Some(verb) = Verb::of(request.method(), request.uri().query()) else {
        return Refused::unsupported().into_response();
    };
    match (route, verb) {
        (Route::Data(operation, rest), Verb::Write) => {
            data::answer(state, operation, rest, request).await
        }
        (Route::Random(rest), Verb::Write) => random::answer(state, rest, request).await,
        (Route::LogIn { user }, Verb::Write) => session::log_in(state, user, request).await,
        (Route::RenewSelf, Verb::Write) => session::renew(state, request.into_parts().0).await,
        (Route::LookUpSelf, Verb::Read | Verb::Write) => {
            session::look_up(state, request.into_parts().0).await
        }
        (Route::RevokeSelf, Verb::Write) => session::revoke(state, request.into_parts().0).await,
        (
            Route::Keys
            | Route::Key(_)
            | Route::Config(_)
            | Route::Rotate(_)
            | Route::Import(_)
            | Route::PublicKeys(..),
            verb,
        ) => keys::answer(state, route, verb, request).await,
        (Route::Health, Verb::Read) => system::health(state, request.uri().query()),
        (Route::SealStatus, Verb::Read) => system::seal_status(state),
        (Route::Leader, Verb::Read) => system::leader(),
        (Route::PrivateKeys, _) => {
            Refused::invalid("private key material is not exportable").into_response()
        }
        (Route::Unsupported, _) => Refused::not_found("unsupported path").into_response(),
        (Route::Denied, _) => Refused::denied("FORBIDDEN").into_response(),
        (
            Route::Data(..)
            | Route::Random(_)
            | Route::LogIn { .. }
            | Route::RenewSelf
            | Route::LookUpSelf
            | Route::RevokeSelf
            | Route::Health
            | Route::SealStatus
            | Route::Leader,
            _,
        ) => Refused::unsupported().into_response(),
    }
}
