//! Sign-in at the provider: the redirect to it, and the redirect back.

use std::net::IpAddr;

use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse as _, Redirect, Response};
use zeroize::Zeroizing;

use super::refused::SignInRefused;
use super::{StartedSession, admit, page, place, with_cookie};
use crate::app::{Dashboard, SharedDashboard};
use crate::error::PageError;
use crate::extract::Query;
use crate::session::{Attempt, Secret, Transport};
use crate::viewer::Visitor;
use engine::auth::oidc::{self, Binding, NotSignedIn, Prompt, SignedIn};
use engine::auth::{NewSession, SessionStart};
use engine::management::Event;
use engine::ratelimit::{Rule, Scope, network_of};
use engine::request_tag::RequestTag;
use engine::web::ClientAddress;

/// The URL that starts a sign-in which shows `to` at its end.
pub(super) fn address(to: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("to", to);
    format!("{START}?{}", query.finish())
}

/// The URL that asks the provider whether the person of the session is still signed in, and then shows `to`.
pub(crate) fn check_address(to: &str) -> String {
    format!("{}&{CHECK}=yes", address(to))
}

/// Whether this is the URL of a check.
pub(crate) fn is_check(uri: &Uri) -> bool {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    uri.path() == START && query.any(|(name, value)| name == CHECK && value == "yes")
}

/// The path that starts a sign-in.
const START: &str = "/dashboard/sign-in/provider";

/// The parameter of a check without pages.
const CHECK: &str = "check";

/// Redirects to the provider.
pub(crate) async fn start(
    State(dashboard): State<SharedDashboard>,
    Extension(visitor): Extension<Visitor>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    Extension(tag): Extension<RequestTag>,
    Query(query): Query,
) -> Result<Response, PageError> {
    let provider = dashboard.provider.as_ref().ok_or(PageError::NotFound)?;
    let failure = SignInFailure { dashboard: &dashboard, visitor: &visitor, client, tag: &tag };
    if let Some(refused) = failure.if_too_often().await {
        return Ok(refused);
    }
    let (secret, now) = (visitor.secret.clone(), dashboard.engine.clock.now());
    let prompt = if query.has(CHECK, "yes") { Prompt::Nothing } else { Prompt::Pages };
    let attempt = Attempt::start(secret, &dashboard.engine.entropy, now, (prompt, place(&query)));
    let values = Values::of(&attempt);
    match provider.authorization_url(values.binding(), prompt).await {
        Ok(url) => Ok(Redirect::to(&url).into_response()),
        Err(error) => Ok(failure.respond(refusal(&error), &error.to_string())),
    }
}

/// Signs in the person whom the provider authenticated.
pub(crate) async fn finish(
    State(dashboard): State<SharedDashboard>,
    Extension(visitor): Extension<Visitor>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    Extension(transport): Extension<Transport>,
    Extension(tag): Extension<RequestTag>,
    Query(query): Query,
) -> Result<Response, PageError> {
    let provider = dashboard.provider.as_ref().ok_or(PageError::NotFound)?;
    let failure = SignInFailure { dashboard: &dashboard, visitor: &visitor, client, tag: &tag };
    if let Some(refused) = failure.if_too_often().await {
        return Ok(refused);
    }
    let (secret, now) = (visitor.secret.clone(), dashboard.engine.clock.now());
    let attempt = match Attempt::resume(secret, query.raw("state"), now) {
        Ok(attempt) => attempt,
        Err(error) => return Ok(failure.respond(SignInRefused::Unfinished, &error.to_string())),
    };
    let values = Values::of(&attempt);
    let redirect = oidc::Redirect {
        code: query.some("code"),
        error: query.some("error"),
        issuer: query.some("iss"),
        network: network_of(client),
    };
    let (database, entropy) = (&dashboard.engine.database, &dashboard.engine.entropy);
    let signed_in = provider.sign_in(database, entropy, client, values.binding(), redirect);
    let person = match signed_in.await {
        Ok(person) => person,
        Err(NotSignedIn::Unreadable(error)) => return Err(error.into()),
        Err(error) => {
            let refused = refusal(&error);
            if attempt.prompt() == Prompt::Pages || !ends_session(&error) {
                return Ok(failure.respond(refused, &error.to_string()));
            }
            dashboard.sessions.close(attempt.session()).await?;
            let refused =
                if refused == SignInRefused::Unfinished { SignInRefused::Ended } else { refused };
            return Ok(failure.respond_at(attempt.place(), refused, &error.to_string()));
        }
    };
    let SignedIn { administrator, session } = &person;
    match attempt.prompt() {
        Prompt::Pages => {
            let at_provider = session.as_deref();
            let started_at = attempt.started_at();
            let session =
                StartedSession { administrator, at_provider, started_at, former: &visitor };
            admit(&dashboard, session, transport, &tag, attempt.place()).await
        }
        Prompt::Nothing => match confirm(&dashboard, &attempt, &person).await? {
            Some(secret) => {
                let place = Redirect::to(attempt.place()).into_response();
                Ok(with_cookie(place, transport.keep(&secret)))
            }
            None => {
                let reason = "the session is not that of the person whom the provider confirms";
                Ok(failure.respond_at(attempt.place(), SignInRefused::Ended, reason))
            }
        },
    }
}

/// Continues the session that started a check. None if it has ended, or is that of another person.
async fn confirm(
    dashboard: &Dashboard,
    attempt: &Attempt,
    person: &SignedIn,
) -> Result<Option<Secret>, PageError> {
    let secret = Secret::generate(&dashboard.engine.entropy);
    let session = NewSession {
        digest: secret.digest(),
        administrator: &person.administrator,
        at_provider: person.session.as_deref(),
        start: SessionStart::Session(attempt.session()),
    };
    let is_continued = dashboard.sessions.open(dashboard.engine.clock.now(), session).await?;
    Ok(is_continued.then_some(secret))
}

/// Whether the provider or the roles of the person say that a session has ended. Other errors say nothing about
/// the person.
fn ends_session(error: &NotSignedIn) -> bool {
    match error {
        NotSignedIn::Refused(_) | NotSignedIn::NoRole(_) | NotSignedIn::Locked(_) => true,
        NotSignedIn::Unavailable(_)
        | NotSignedIn::Token(_)
        | NotSignedIn::Repeated
        | NotSignedIn::Claim(_)
        | NotSignedIn::Unreadable(_) => false,
    }
}

/// The values of an attempt.
struct Values {
    state: String,
    nonce: String,
    verifier: Zeroizing<String>,
}

impl Values {
    fn of(attempt: &Attempt) -> Self {
        Self { state: attempt.state(), nonce: attempt.nonce(), verifier: attempt.verifier() }
    }

    fn binding(&self) -> Binding<'_> {
        Binding { state: &self.state, nonce: &self.nonce, verifier: &self.verifier }
    }
}

/// How a request to sign in fails.
struct SignInFailure<'a> {
    dashboard: &'a Dashboard,
    visitor: &'a Visitor,
    client: IpAddr,
    tag: &'a RequestTag,
}

impl SignInFailure<'_> {
    /// The response if the address has too many attempts.
    async fn if_too_often(&self) -> Option<Response> {
        let scope = Scope::SignIns(self.client);
        let limiter = &self.dashboard.engine.limiter;
        let exceeded = limiter.take(scope, Rule::SIGN_INS).await.err()?;
        Some(self.respond(SignInRefused::TooOften, &exceeded.to_string()))
    }

    /// Records the failure and shows the sign-in page.
    fn respond(&self, refused: SignInRefused, reason: &str) -> Response {
        self.respond_at("/dashboard", refused, reason)
    }

    /// The same, with a page that leads to `place`.
    fn respond_at(&self, place: &str, refused: SignInRefused, reason: &str) -> Response {
        tracing::info!(client = %self.client, %reason, "a sign-in to the dashboard was refused");
        let event = Event::sign_in_failed(reason);
        let security = &self.dashboard.security;
        security.submit_anonymous(self.client, self.tag.to_string(), event);
        let page = page(self.dashboard, self.visitor, place, Some(refused), None);
        (refused.status(), page).into_response()
    }
}

fn refusal(error: &NotSignedIn) -> SignInRefused {
    match error {
        NotSignedIn::Unavailable(_) | NotSignedIn::Unreadable(_) => SignInRefused::ProviderAway,
        NotSignedIn::NoRole(_) => SignInRefused::NoRole,
        NotSignedIn::Locked(_) => SignInRefused::Locked,
        NotSignedIn::Refused(_)
        | NotSignedIn::Token(_)
        | NotSignedIn::Repeated
        | NotSignedIn::Claim(_) => SignInRefused::Unfinished,
    }
}
