//! Log-ins and what clients do with their token. A token is the credential itself, so nothing is kept here.

mod lease;
mod log_in;
mod look_up;

use axum::http::Extensions;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use self::lease::Lease;
pub(crate) use self::log_in::log_in;
pub(crate) use self::look_up::look_up;
use crate::caller::{AdmittedCaller, NotAdmitted, check_namespace, credentials, namespace};
use crate::envelope::{auth, no_content};
use crate::errors::Refused;
use crate::held::Sender;
use crate::state::Transit;
use engine::auth::Caller;
use engine::receive::AdminCaller;
use engine::request_tag::RequestTag;
use engine::web::write_rate_limit;

/// Renews the token of a request: says how long its credential is valid. A refusal waits.
pub(crate) async fn renew(state: &Transit, parts: Parts) -> Response {
    let sender = Sender::of(&parts.extensions);
    match renewed(state, &parts).await {
        Ok(response) => response,
        Err(NotAdmitted { refused, bucket }) => {
            // Neither the headers nor the credential wait.
            drop(parts);
            let mut response = state.held.hold(sender, refused).await;
            if let Some(bucket) = bucket {
                write_rate_limit(bucket, response.headers_mut());
            }
            response
        }
    }
}

async fn renewed(state: &Transit, parts: &Parts) -> Result<Response, NotAdmitted> {
    let credentials = credentials(parts);
    let admitted = AdmittedCaller::of(state, parts, &credentials).await?;
    let bucket = admitted.bucket;
    let refused = |refused| NotAdmitted { refused, bucket: Some(bucket) };
    if let AdminCaller::Caller(caller) = &admitted.caller {
        check_caller(caller, parts).map_err(refused)?;
    }
    let now = state.engine.clock.now();
    let lease = Lease::of(&admitted.caller, now);
    if lease.is_over(now) {
        return Err(refused(Refused::denied("AUTHENTICATION_FAILED")));
    }
    let token = credentials.secret().filter(|token| !token.is_empty());
    let none = || refused(Refused::invalid("a client certificate has no token to renew"));
    Ok(auth(&tag(state, parts), &lease.auth(token.ok_or_else(none)?), bucket))
}

/// Ends the session of a token: nothing, because the credential stays valid.
pub(crate) async fn revoke(state: &Transit, parts: Parts) -> Response {
    match AdmittedCaller::of(state, &parts, &credentials(&parts)).await {
        Ok(admitted) => no_content(admitted.bucket),
        Err(not_admitted) => not_admitted.into_response(),
    }
}

/// Refuses an application that is frozen, or that names another service.
fn check_caller(caller: &Caller, parts: &Parts) -> Result<(), Refused> {
    let Ok(application) = caller.clone().application() else { return Ok(()) };
    check_namespace(&application, namespace(parts))?;
    match application.frozen() {
        Some(_) => Err(Refused::denied("SERVICE_FROZEN")),
        None => Ok(()),
    }
}

/// The identifier of a request, which the frame has determined.
pub(crate) fn tag(state: &Transit, parts: &Parts) -> RequestTag {
    tag_of(state, &parts.extensions)
}

fn tag_of(state: &Transit, extensions: &Extensions) -> RequestTag {
    let tag = extensions.get::<RequestTag>().cloned();
    tag.unwrap_or_else(|| state.engine.new_request_tag())
}
