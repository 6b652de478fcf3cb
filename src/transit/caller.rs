//! Who sends a request, and for which service.

use axum::body::Body;
use axum::http::HeaderName;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use tracing::Instrument as _;

use crate::errors::Refused;
use crate::state::Transit;
use engine::auth::{Application, Authorization, Credentials};
use engine::body_memory::{BodyBytes, SMALL_BODY};
use engine::ids::ServiceId;
use engine::management::services::{self, ServiceFilter};
use engine::management::{Authorized, Error, PageRequest, ReadResources};
use engine::ratelimit::BucketState;
use engine::receive::{AdminCaller, ApiRules, CREDENTIAL_FRESHNESS, read_refused};
use engine::telemetry::step;
use engine::web::{
    LoggedCaller, UnreadableBody, authorization, check_encoding, client_address, read_body,
    write_rate_limit,
};

const TOKEN: HeaderName = HeaderName::from_static("x-vault-token");
const NAMESPACE: HeaderName = HeaderName::from_static("x-vault-namespace");

/// The rules of this API for its requests.
pub(crate) const RULES: ApiRules =
    ApiRules { credentials, check_body: check_encoding, answer_bytes: 8_192 };

/// The credentials of a request. A client may repeat its token.
pub(crate) fn credentials(parts: &Parts) -> Credentials<'_> {
    let mut tokens = parts.headers.get_all(TOKEN).iter().filter(|token| !token.is_empty());
    let authorization = match tokens.next() {
        None => authorization(&parts.headers),
        Some(first) if tokens.all(|other| other == first) => Authorization::Token(first.as_bytes()),
        Some(_) => Authorization::Several,
    };
    Credentials { authorization, certificate: parts.extensions.get().cloned().unwrap_or_default() }
}

/// An identified caller within its rate limit.
pub(crate) struct AdmittedCaller {
    pub(crate) caller: AdminCaller,
    pub(crate) bucket: BucketState,
}

/// A caller that is not identified, or over its rate limit.
pub(crate) struct NotAdmitted {
    pub(crate) refused: Refused,
    /// Of a caller over its limit.
    pub(crate) bucket: Option<BucketState>,
}

impl IntoResponse for NotAdmitted {
    fn into_response(self) -> Response {
        let mut response = self.refused.into_response();
        if let Some(bucket) = self.bucket {
            write_rate_limit(bucket, response.headers_mut());
        }
        response
    }
}

impl AdmittedCaller {
    /// Identifies the caller of a request, and takes one token of its rate limit.
    pub(crate) async fn of(
        state: &Transit,
        parts: &Parts,
        credentials: &Credentials<'_>,
    ) -> Result<Self, NotAdmitted> {
        let caller = identified(state, parts, credentials).await?;
        LoggedCaller::note(&parts.extensions, caller.id());
        match caller.admit(&state.engine).instrument(step!("limit")).await {
            Ok(bucket) => Ok(Self { caller, bucket }),
            Err(exceeded) => {
                let bucket = Some(exceeded.bucket);
                Err(NotAdmitted { refused: exceeded.into(), bucket })
            }
        }
    }
}

/// Identifies the caller of a request, and reads its body. The body of another request is read for its syntax
/// only. A caller whose body takes long is identified again.
pub(crate) async fn read_for(
    state: &Transit,
    parts: &Parts,
    body: Body,
) -> Result<(Result<AdmittedCaller, NotAdmitted>, BodyBytes), UnreadableBody> {
    let engine = &state.engine;
    let credentials = credentials(parts);
    let began = engine.clock.monotonic();
    let admitted = match AdmittedCaller::of(state, parts, &credentials).await {
        Ok(admitted) => admitted,
        Err(not_admitted) => {
            let client = client_address(&parts.extensions);
            let read = read_refused(engine, RULES, client, parts, body, SMALL_BODY).await;
            let body = match read {
                // The syntax of the body is unknown.
                Err(UnreadableBody::TooLarge | UnreadableBody::NoMemory) => BodyBytes::default(),
                read => read?,
            };
            return Ok((Err(not_admitted), body));
        }
    };
    check_encoding(parts)?;
    let body = read_body(parts, body, SMALL_BODY, Some(admitted.caller.memory(engine))).await?;
    if engine.clock.monotonic().saturating_sub(began) < CREDENTIAL_FRESHNESS {
        return Ok((Ok(admitted), body));
    }
    let AdmittedCaller { bucket, .. } = admitted;
    let again = identified(state, parts, &credentials).await;
    Ok((again.map(|caller| AdmittedCaller { caller, bucket }), body))
}

async fn identified(
    state: &Transit,
    parts: &Parts,
    credentials: &Credentials<'_>,
) -> Result<AdminCaller, NotAdmitted> {
    let (engine, client) = (&state.engine, client_address(&parts.extensions));
    let provider = state.provider.as_ref();
    let identified = AdminCaller::identify(engine, provider, credentials, client);
    match identified.instrument(step!("caller")).await {
        Ok(caller) => Ok(caller),
        Err(denied) => {
            let refused = engine.unauthenticated(client, denied).await.into();
            Err(NotAdmitted { refused, bucket: None })
        }
    }
}

/// The namespace that a request names.
pub(crate) fn namespace(parts: &Parts) -> Option<&str> {
    let mut named = parts.headers.get_all(NAMESPACE).iter();
    let first = named.next()?;
    // No service has this name.
    let one = first.to_str().ok().filter(|_| named.all(|other| other == first));
    let named = one.map_or("\0", |named| named.trim_matches('/'));
    Some(named).filter(|named| !matches!(*named, "" | "root"))
}

/// Refuses a namespace that is not the service of the caller.
pub(crate) fn check_namespace(
    application: &Application,
    namespace: Option<&str>,
) -> Result<(), Refused> {
    let is_own = |named: &str| {
        named.parse().ok() == Some(application.service_id())
            || Some(named) == application.service_name()
    };
    match namespace.is_none_or(is_own) {
        true => Ok(()),
        false => Err(namespace_not_found()),
    }
}

/// The service that an administrator names.
pub(crate) async fn service(
    context: &Authorized<ReadResources>,
    namespace: Option<&str>,
) -> Result<ServiceId, Refused> {
    let named = namespace.ok_or_else(|| {
        Refused::invalid("X-Vault-Namespace must name the service of the key: its id or its name")
    })?;
    let id = match named.parse() {
        Ok(id) => id,
        Err(_) => listed(context, named).await?.ok_or_else(namespace_not_found)?,
    };
    match services::read(context, id).await {
        Ok(service) if named.parse() == Ok(id) || *service.name == *named => Ok(id),
        Ok(_) | Err(Error::Missing(_)) => Err(namespace_not_found()),
        Err(error) => Err(error.into()),
    }
}

/// The service that lists show under a name. They also show rows that do not count.
async fn listed(
    context: &Authorized<ReadResources>,
    name: &str,
) -> Result<Option<ServiceId>, Refused> {
    if name.contains('\0') {
        return Ok(None);
    }
    let filter = ServiceFilter { name: Some(name.to_owned()), ..ServiceFilter::default() };
    let found = services::list(context, &filter, PageRequest::default()).await?;
    Ok(found.items.first().map(|service| service.id))
}

pub(crate) fn namespace_not_found() -> Refused {
    Refused::not_found("namespace not found")
}
