//! The state of the service, for probes. These routes need no token.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hsm::TokenState;
use serde_json::json;

use crate::errors::Refused;
use crate::state::Transit;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A state of the service, and its status.
#[derive(Clone, Copy)]
struct HealthState {
    /// The parameter of a query that names another status.
    parameter: &'static str,
    usual: StatusCode,
    /// What another status may be.
    allowed: &'static str,
    may_fail: bool,
}

const SEALED: HealthState = HealthState {
    parameter: "sealedcode",
    usual: StatusCode::SERVICE_UNAVAILABLE,
    allowed: "2xx, 4xx or 5xx",
    may_fail: true,
};

/// 5xx is a failure in the log and in metrics, which a client cannot cause while the service works.
const ACTIVE: HealthState = HealthState {
    parameter: "activecode",
    usual: StatusCode::OK,
    allowed: "2xx or 4xx",
    may_fail: false,
};

/// The statuses of answers without a body.
const BARE: [StatusCode; 2] = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT];

/// Reports whether the service works. A query can name the statuses of its states.
pub(crate) fn health(state: &Transit, query: Option<&str>) -> Response {
    let is_sealed = is_sealed(state);
    let status = match status(query, if is_sealed { SEALED } else { ACTIVE }) {
        Ok(status) => status,
        Err(refused) => return refused.into_response(),
    };
    let health = json!({
        "initialized": true,
        "sealed": is_sealed,
        "standby": false,
        "performance_standby": false,
        "replication_performance_mode": "disabled",
        "replication_dr_mode": "disabled",
        "server_time_utc": state.engine.clock.now().as_millis().div_euclid(1_000),
        "version": VERSION,
    });
    let mut response = match BARE.contains(&status) {
        true => status.into_response(),
        false => (status, Json(health)).into_response(),
    };
    if [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&status) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(1));
    }
    response
}

/// Reports whether the token serves.
pub(crate) fn seal_status(state: &Transit) -> Response {
    let status = json!({
        "type": "pkcs11",
        "initialized": true,
        "sealed": is_sealed(state),
        "t": 0,
        "n": 0,
        "progress": 0,
        "nonce": "",
        "version": VERSION,
        "build_date": "",
        "migration": false,
        "recovery_seal": false,
        "storage_type": "postgresql",
    });
    Json(status).into_response()
}

/// Every instance answers, so none leads.
pub(crate) fn leader() -> Response {
    Json(json!({ "ha_enabled": false })).into_response()
}

/// Whether the instance accepts no traffic, or no token serves.
fn is_sealed(state: &Transit) -> bool {
    let tokens = state.engine.token.status().tokens;
    let serves = tokens.iter().any(|token| token.state == TokenState::Serving);
    !(serves && (state.is_ready)())
}

/// The status of a state. A query can name it.
fn status(query: Option<&str>, state: HealthState) -> Result<StatusCode, Refused> {
    let HealthState { parameter, usual, allowed, may_fail } = state;
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let Some((_, named)) = pairs.find(|(name, _)| name == parameter) else { return Ok(usual) };
    let is_allowed = |status: &StatusCode| {
        let is_other = status.is_informational() || status.is_redirection();
        !is_other && (may_fail || !status.is_server_error())
    };
    let status = named.parse::<u16>().ok().filter(|number| *number < 600);
    let status = status.and_then(|number| StatusCode::from_u16(number).ok());
    let refused = || Refused::invalid(format!("{parameter} must be {allowed}"));
    status.filter(is_allowed).ok_or_else(refused)
}
