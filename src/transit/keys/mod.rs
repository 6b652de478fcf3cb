//! Keys by their names: what callers learn about them, and what administrators change.

mod change;
mod view;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};

use crate::body::parse;
use crate::caller::{AdmittedCaller, check_namespace, namespace, read_for, service};
use crate::envelope::{data, no_content};
use crate::errors::Refused;
use crate::route::{Route, Verb};
use crate::session::tag;
use crate::state::Transit;
use engine::body_memory::BodyBytes;
use engine::catalog::Unreadable;
use engine::ids::ServiceId;
use engine::keys::is_transit_name;
use engine::management::security::RefusedRequest;
use engine::management::{Context, Event, ReadResources};
use engine::receive::AdminCaller;
use engine::web::{client_address, write_rate_limit};
use serde_json::Value;

/// An answer.
enum Answer {
    Data(Value),
    Nothing,
}

/// Who asks, for the keys of a service.
enum Subject {
    Application,
    Administrator(Box<Context>),
}

/// Answers a request about keys.
pub(crate) async fn answer(
    state: &Transit,
    route: Route<'_>,
    verb: Verb,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let client = client_address(&parts.extensions);
    let (admitted, body) = match read_for(state, &parts, body).await {
        Ok(read) => read,
        Err(unreadable) => return Refused::from(unreadable).into_response(),
    };
    if let Err(not_admitted) = &admitted
        && not_admitted.bucket.is_none()
    {
        let event = refusal(&parts, route, &not_admitted.refused);
        state.security.submit_anonymous(client, tag(state, &parts).to_string(), event);
    }
    if let Err(not_json) = parse(&body) {
        return Refused::from(not_json).into_response();
    }
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(not_admitted) => return not_admitted.into_response(),
    };
    let answered = match answered(state, &admitted, &parts, (route, verb), &body).await {
        Err(refused) => record(state, &admitted, &parts, route, refused).await,
        answered => answered,
    };
    let mut response = match answered {
        Ok(Answer::Data(value)) => data(&tag(state, &parts), &value, None),
        Ok(Answer::Nothing) => no_content(admitted.bucket),
        Err(refused) => refused.into_response(),
    };
    write_rate_limit(admitted.bucket, response.headers_mut());
    response
}

async fn answered(
    state: &Transit,
    admitted: &AdmittedCaller,
    parts: &Parts,
    (route, verb): (Route<'_>, Verb),
    body: &BodyBytes,
) -> Result<Answer, Refused> {
    let (subject, service) = subject(state, admitted, parts).await?;
    match (route, verb) {
        (Route::Keys, Verb::List) => Ok(Answer::Data(view::list(state, service).await?)),
        (Route::Key(name), Verb::Read) => Ok(Answer::Data(view::key(state, service, name).await?)),
        (Route::PublicKeys(name, version), Verb::Read) => {
            Ok(Answer::Data(view::public_keys(state, service, name, version).await?))
        }
        (Route::Key(_), Verb::Write | Verb::Delete)
        | (Route::Config(_) | Route::Rotate(_) | Route::Import(_), Verb::Write) => {
            let Subject::Administrator(context) = subject else {
                return Err(Refused::denied("FORBIDDEN"));
            };
            change::change(state, &context, service, (route, verb), parse(body)?).await
        }
        _ => Err(Refused::unsupported()),
    }
}

/// Who asks, and for which service.
async fn subject(
    state: &Transit,
    admitted: &AdmittedCaller,
    parts: &Parts,
) -> Result<(Subject, ServiceId), Refused> {
    if let AdminCaller::Caller(caller) = &admitted.caller
        && let Ok(application) = caller.clone().application()
    {
        check_namespace(&application, namespace(parts))?;
        return Ok((Subject::Application, application.service_id()));
    }
    admitted.caller.clone().administrator()?;
    let actor = admitted.caller.actor(tag(state, parts).to_string());
    let context = Context::of_request(&state.engine, actor, None);
    let service = service(&context.authorize::<ReadResources>()?, namespace(parts)).await?;
    Ok((Subject::Administrator(Box::new(context)), service))
}

/// Records that an identified caller was denied.
async fn record(
    state: &Transit,
    admitted: &AdmittedCaller,
    parts: &Parts,
    route: Route<'_>,
    refused: Refused,
) -> Result<Answer, Refused> {
    if refused.status != StatusCode::FORBIDDEN {
        return Err(refused);
    }
    let event = refusal(parts, route, &refused);
    let actor = admitted.caller.actor(tag(state, parts).to_string());
    match state.security.record(&actor, event).await {
        Ok(()) => Err(refused),
        Err(error) => Err(Unreadable::from(error).into()),
    }
}

fn refusal(parts: &Parts, route: Route<'_>, refused: &Refused) -> Event {
    Event::refused(RefusedRequest {
        method: parts.method.as_str(),
        route: Some(route.template()),
        status: refused.status.as_u16(),
    })
}

/// The key with a name that is visible here.
fn visible(name: &str) -> Result<&str, Refused> {
    if is_transit_name(name) { Ok(name) } else { Err(Refused::missing()) }
}
