//! Log-ins: AppRole, passwords, and the tokens of workloads, on any mount.
//!
//! The answer has the credential of the log-in as its token. Roles and names of users decide nothing.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use tracing::Instrument as _;

use super::lease::Lease;
use super::{check_caller, tag, tag_of};
use crate::body::{Fields, parse};
use crate::caller::{NotAdmitted, RULES};
use crate::envelope::auth;
use crate::errors::Refused;
use crate::held::Sender;
use crate::route::Route;
use crate::state::Transit;
use engine::auth::{Authorization, Caller, Credentials, Denied};
use engine::ids::ServiceId;
use engine::management::Event;
use engine::management::security::RefusedRequest;
use engine::receive::{AdminCaller, read_log_in};
use engine::telemetry::step;
use engine::web::{LoggedCaller, Unauthenticated, client_address, write_rate_limit};
use formats::json::Text;
use formats::problem::Problem;
use zeroize::Zeroizing;

/// A credential in the body of a log-in.
struct LogInCredential {
    secret: Zeroizing<String>,
    /// The role of an AppRole, which may name the service.
    role_id: Option<String>,
    /// What a wrong credential is answered.
    refusal: &'static str,
}

/// Logs in with the body of a request. A refusal waits.
pub(crate) async fn log_in(state: &Transit, user: Option<&str>, request: Request) -> Response {
    let sender = Sender::of(request.extensions());
    let method = request.method().clone();
    let tag = tag_of(state, request.extensions());
    match logged_in(state, user, request).await {
        Ok(response) => response,
        Err(NotAdmitted { refused, bucket: Some(bucket) }) => {
            let mut response = state.held.hold(sender, refused).await;
            write_rate_limit(bucket, response.headers_mut());
            response
        }
        Err(NotAdmitted { refused, bucket: None }) => {
            let event = Event::refused(RefusedRequest {
                method: method.as_str(),
                route: Some(Route::LogIn { user: None }.template()),
                status: refused.status.as_u16(),
            });
            state.security.submit_anonymous(sender.client, tag.to_string(), event);
            state.held.hold(sender, refused).await
        }
    }
}

async fn logged_in(
    state: &Transit,
    user: Option<&str>,
    request: Request,
) -> Result<Response, NotAdmitted> {
    let identified = identified(state, user, request).await;
    let (caller, presented, parts) =
        identified.map_err(|refused| NotAdmitted { refused, bucket: None })?;
    LoggedCaller::note(&parts.extensions, caller.id());
    let admitted = state.engine.admit(&caller).instrument(step!("limit")).await;
    let bucket = admitted.map_err(|exceeded| {
        let bucket = Some(exceeded.bucket);
        NotAdmitted { refused: exceeded.into(), bucket }
    })?;
    let refused = |refused| NotAdmitted { refused, bucket: Some(bucket) };
    check_caller(&caller, &parts).map_err(refused)?;
    let now = state.engine.clock.now();
    let lease = Lease::of(&AdminCaller::Caller(caller), now);
    if lease.is_over(now) {
        return Err(refused(Refused::invalid(presented.refusal)));
    }
    Ok(auth(&tag(state, &parts), &lease.auth(&presented.secret), bucket))
}

/// Who logs in with the body of a request.
async fn identified(
    state: &Transit,
    user: Option<&str>,
    request: Request,
) -> Result<(Caller, LogInCredential, Parts), Refused> {
    let client = client_address(request.extensions());
    let (parts, body) = request.into_parts();
    let body = read_log_in(&state.engine, RULES, client, &parts, body).await?;
    let presented = LogInCredential::read(parse(&body)?, user)?;
    drop(body);
    let caller = match presented.authenticate(state, &parts).await {
        Ok(caller) => caller,
        Err(denied) => return Err(refuse(state, &presented, &parts, denied).await),
    };
    let is_of_another = |role: &str| match role.parse::<ServiceId>() {
        Ok(service) => caller.service_id() != Some(service),
        Err(_) => role.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("svc_")),
    };
    match presented.role_id.as_deref().is_some_and(is_of_another) {
        true => Err(Refused::invalid(presented.refusal)),
        false => Ok((caller, presented, parts)),
    }
}

/// Refuses a credential. If a credential cannot be checked now, the answer does not say that it is wrong.
async fn refuse(
    state: &Transit,
    presented: &LogInCredential,
    parts: &Parts,
    denied: Denied,
) -> Refused {
    let client = client_address(&parts.extensions);
    let refused = state.engine.unauthenticated(client, denied).await;
    match refused {
        Unauthenticated::Refused(_) => Refused::invalid(presented.refusal),
        Unauthenticated::Limited(_) | Unauthenticated::Unreadable(_) | Unauthenticated::Crowded => {
            refused.into()
        }
    }
}

impl LogInCredential {
    fn read(text: Text<'_>, user: Option<&str>) -> Result<Self, Refused> {
        let names = ["role_id", "secret_id", "role", "jwt", "password"];
        let fields = Fields::of(text, &names)?;
        let secret = |name| {
            let secret = fields.filled(name)?;
            Ok::<_, Problem>(secret.map(|secret| Zeroizing::new(secret.into_owned())))
        };
        if let Some(secret) = secret("jwt")? {
            if fields.filled("role")?.is_none() {
                return Err(Refused::invalid("missing role"));
            }
            // Agents send the file of a token as it is.
            let secret = Zeroizing::new(secret.trim_end().to_owned());
            let refusal = "error validating token: the token is not valid here";
            return Ok(Self { secret, role_id: None, refusal });
        }
        if let (Some(_), Some(secret)) = (user, secret("password")?) {
            let refusal = "invalid username or password";
            return Ok(Self { secret, role_id: None, refusal });
        }
        let role_id = fields.filled("role_id")?.map(|role| role.into_owned());
        match (role_id, secret("secret_id")?) {
            (Some(role_id), Some(secret)) => {
                let refusal = "invalid role or secret ID";
                Ok(Self { secret, role_id: Some(role_id), refusal })
            }
            (None, Some(_)) => Err(Refused::invalid("missing role_id")),
            (Some(_), None) => Err(Refused::invalid("missing secret_id")),
            (None, None) => Err(Refused::invalid(
                "log in with an AppRole, a password or a JWT; a client certificate needs no log-in",
            )),
        }
    }

    async fn authenticate(&self, state: &Transit, parts: &Parts) -> Result<Caller, Denied> {
        let credentials = Credentials {
            authorization: Authorization::Token(self.secret.as_bytes()),
            certificate: parts.extensions.get().cloned().unwrap_or_default(),
        };
        let client = client_address(&parts.extensions);
        state.engine.authenticate(&credentials, client).instrument(step!("caller")).await
    }
}
