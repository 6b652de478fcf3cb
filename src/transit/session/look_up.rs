//! What a client learns about its token. The answer has no secret.

use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::lease::{Lease, unix};
use super::tag;
use crate::caller::{AdmittedCaller, check_namespace, credentials, namespace};
use crate::envelope::data;
use crate::errors::Refused;
use crate::state::Transit;
use engine::receive::AdminCaller;
use engine::web::write_rate_limit;

/// Describes the token of a request.
pub(crate) async fn look_up(state: &Transit, parts: Parts) -> Response {
    let admitted = match AdmittedCaller::of(state, &parts, &credentials(&parts)).await {
        Ok(admitted) => admitted,
        Err(not_admitted) => return not_admitted.into_response(),
    };
    let mut response = match described(state, &parts, &admitted) {
        Ok(response) => response,
        Err(refused) => refused.into_response(),
    };
    write_rate_limit(admitted.bucket, response.headers_mut());
    response
}

fn described(
    state: &Transit,
    parts: &Parts,
    admitted: &AdmittedCaller,
) -> Result<Response, Refused> {
    let name = match &admitted.caller {
        AdminCaller::Caller(caller) => {
            if let Ok(application) = caller.clone().application() {
                check_namespace(&application, namespace(parts))?;
            }
            caller.name()
        }
        AdminCaller::Person(_) => "",
    };
    let now = state.engine.clock.now();
    let lease = Lease::of(&admitted.caller, now);
    let since = lease.since.unwrap_or(now);
    let token = json!({
        "id": admitted.caller.id().to_string(),
        "accessor": "",
        "display_name": name,
        "policies": ["default"],
        "ttl": lease.left,
        "creation_ttl": lease.whole,
        "creation_time": unix(since),
        "issue_time": since,
        "expire_time": lease.until,
        "explicit_max_ttl": 0,
        "meta": null,
        "num_uses": 0,
        "orphan": true,
        "path": "auth/token/create",
        "entity_id": "",
        "renewable": true,
        "type": "service",
    });
    Ok(data(&tag(state, parts), &token, None))
}
