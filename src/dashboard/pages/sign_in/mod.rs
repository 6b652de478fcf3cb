//! Sign-in with an admin key or at the provider, and sign-out.

pub(crate) mod backchannel;
pub(crate) mod provider;
mod refused;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use self::refused::SignInRefused;
use crate::access::LONGEST_PLACE;
use crate::app::{Dashboard, SharedDashboard};
use crate::error::PageError;
use crate::extract::{PageContext, Query, Submitted};
use crate::form::Form;
use crate::session::{Secret, Transport};
use crate::view::shell;
use crate::viewer::{TOKEN, Visitor};
use engine::auth::{Administrator, Authorization, Credentials, Denied, NewSession, SessionStart};
use engine::client_certificates::ClientCertificate;
use engine::management::{Actor, Event};
use engine::ratelimit::{Crowded, Rule, Scope};
use engine::request_tag::RequestTag;
use engine::web::ClientAddress;
use formats::clock::Timestamp;

pub(crate) async fn ask(
    State(dashboard): State<SharedDashboard>,
    Extension(visitor): Extension<Visitor>,
    Query(query): Query,
) -> Markup {
    let provider = dashboard.provider.as_ref();
    let end = match provider.filter(|_| query.text("out") == "yes") {
        // A provider that is away shows no link.
        Some(provider) => provider.sign_out_url().await.ok().flatten(),
        None => None,
    };
    page(&dashboard, &visitor, place(&query), None, end.as_deref())
}

pub(crate) async fn enter(
    State(dashboard): State<SharedDashboard>,
    Extension(visitor): Extension<Visitor>,
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    Extension(certificate): Extension<ClientCertificate>,
    Extension(transport): Extension<Transport>,
    Extension(tag): Extension<RequestTag>,
    Submitted(form): Submitted,
) -> Result<Response, PageError> {
    let again = |why: SignInRefused| {
        let page = page(&dashboard, &visitor, place(&form), Some(why), None);
        (why.status(), page).into_response()
    };
    let record_failure = |reason: &str| {
        let event = Event::sign_in_failed(reason);
        let security = &dashboard.security;
        security.submit_anonymous(client, tag.to_string(), event);
    };
    let scope = Scope::SignIns(client);
    if let Err(exceeded) = dashboard.engine.limiter.take(scope, Rule::SIGN_INS).await {
        record_failure(&exceeded.to_string());
        return Ok(again(SignInRefused::TooOften));
    }
    if !dashboard.engine.settings.admin.key_sign_in {
        record_failure("admin keys cannot sign in to the dashboard");
        return Ok(again(SignInRefused::KeysOff));
    }
    let administrator = match authenticate(&dashboard, &form, client, certificate).await {
        Ok(Ok(administrator)) => administrator,
        Err(error) => {
            if matches!(error, PageError::Crowded) {
                record_failure(&Crowded.to_string());
            }
            return Err(error);
        }
        Ok(Err(reason)) => {
            record_failure(&reason);
            return Ok(again(SignInRefused::BadKey));
        }
    };
    let session = StartedSession {
        administrator: &administrator,
        at_provider: None,
        started_at: dashboard.engine.clock.now(),
        former: &visitor,
    };
    admit(&dashboard, session, transport, &tag, place(&form)).await
}

/// The session of an administrator who signed in.
struct StartedSession<'a> {
    administrator: &'a Administrator,
    /// The session of a person at the provider.
    at_provider: Option<&'a str>,
    /// When the sign-in started.
    started_at: Timestamp,
    /// The browser. Its former session ends, because the browser loses the cookie of that.
    former: &'a Visitor,
}

/// Starts the session of an administrator and shows `place`.
async fn admit(
    dashboard: &Dashboard,
    session: StartedSession<'_>,
    transport: Transport,
    tag: &RequestTag,
    place: &str,
) -> Result<Response, PageError> {
    let StartedSession { administrator, at_provider, started_at, former } = session;
    let actor = Actor::administrator(administrator, tag.to_string());
    let event = Event::signed_in(administrator);
    dashboard.security.record(&actor, event).await?;
    // A new secret, because another site may have set the secret of the browser (session fixation).
    let secret = Secret::generate(&dashboard.engine.entropy);
    let digest = secret.digest();
    let start = SessionStart::SignIn(started_at);
    let session = NewSession { digest, administrator, at_provider, start };
    dashboard.sessions.close(former.secret.digest()).await?;
    dashboard.sessions.open(dashboard.engine.clock.now(), session).await?;
    Ok(with_cookie(Redirect::to(place).into_response(), transport.keep(&secret)))
}

pub(crate) async fn leave(
    cx: PageContext,
    Extension(transport): Extension<Transport>,
) -> Result<Response, PageError> {
    let sessions = &cx.dashboard.sessions;
    sessions.close(cx.viewer.secret.digest()).await?;
    let event = Event::signed_out(&cx.viewer.administrator);
    let security = &cx.dashboard.security;
    security.record(cx.context.actor(), event).await?;
    let away = Redirect::to("/dashboard/sign-in?out=yes").into_response();
    Ok(with_cookie(away, transport.forget()))
}

/// The administrator with the key in `form`, or the reason to refuse it.
async fn authenticate(
    dashboard: &Dashboard,
    form: &Form,
    client: std::net::IpAddr,
    certificate: ClientCertificate,
) -> Result<Result<Administrator, String>, PageError> {
    let bearer = zeroize::Zeroizing::new(format!("Bearer {}", form.text("key")));
    let credentials =
        Credentials { authorization: Authorization::One(bearer.as_bytes()), certificate };
    match dashboard.engine.authenticate(&credentials, client).await {
        Ok(caller) => Ok(caller.administrator().map_err(|wrong| wrong.to_string())),
        Err(Denied::Refused(refusal)) => {
            tracing::info!(%client, %refusal, "a sign-in to the dashboard was refused");
            Ok(Err(refusal.to_string()))
        }
        Err(Denied::Unreadable(unreadable)) => Err(unreadable.into()),
        Err(Denied::Crowded) => Err(PageError::Crowded),
    }
}

/// The target after the sign-in: a page of the dashboard.
fn place(form: &Form) -> &str {
    let wanted = form.text("to");
    let path = wanted.split(['?', '#']).next().unwrap_or_default();
    let is_ours = path == "/dashboard" || path.starts_with("/dashboard/");
    let is_plain = wanted.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !wanted.contains("..");
    if is_ours && is_plain && wanted.len() <= LONGEST_PLACE { wanted } else { "/dashboard" }
}

fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

/// The sign-in page. After a sign-out, `end` is the URL that ends the session at the provider.
fn page(
    dashboard: &Dashboard,
    visitor: &Visitor,
    to: &str,
    refused: Option<SignInRefused>,
    end: Option<&str>,
) -> Markup {
    let takes_keys = dashboard.engine.settings.admin.key_sign_in;
    let has_provider = dashboard.provider.is_some();
    let of_key = refused.filter(|why| why.is_about_key()).map(SignInRefused::text);
    let of_page = refused.filter(|why| !why.is_about_key()).map(SignInRefused::text);
    let content = html! {
        div.lone.narrow {
            div.brand-large { (shell::logo()) }
            h1 { "Sign in to Sealward" }
            @if let Some(wrong) = of_page { p.problem role="alert" { (wrong) } }
            @if let Some(end) = end {
                p.notice {
                    "You are signed out of Sealward. The session of single sign-on continues. "
                    a href=(end) { "End it too" }
                }
            }
            @if has_provider {
                a.button.main.wide href=(provider::address(to)) { "Sign in with single sign-on" }
            }
            @if has_provider && takes_keys { h2 { "Or use an admin key" } }
            @if takes_keys {
                (key_form(visitor, to, of_key, has_provider))
            }
            p.faint {
                "A session ends after 15 minutes without activity and after 12 hours."
                @if !has_provider {
                    " Create the first admin key with "
                    code { "sealward api-key create --type admin --name NAME" } "."
                }
            }
        }
    };
    shell::bare("Sign in", &content)
}

fn key_form(visitor: &Visitor, to: &str, wrong: Option<&str>, has_provider: bool) -> Markup {
    html! {
        form method="post" action="/dashboard/sign-in" {
            input type="hidden" name=(TOKEN) value=(visitor.secret.form_token());
            input type="hidden" name="to" value=(to);
            div.field.wrong[wrong.is_some()] {
                label for="key" { "Admin key" }
                p.hint #key-hint { "The key starts with " code { "sk_admin_" } "." }
                @if let Some(wrong) = wrong {
                    p.problem #key-problem role="alert" { (wrong) }
                }
                input #key type="password" name="key" autocomplete="current-password"
                    spellcheck="false" autocapitalize="none" required autofocus[!has_provider]
                    aria-describedby=(if wrong.is_some() { "key-hint key-problem" } else { "key-hint" })
                    aria-invalid=[wrong.map(|_| "true")];
            }
            button.wide.main[!has_provider] type="submit" {
                @if has_provider { "Sign in with the key" } @else { "Sign in" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_redirects_only_to_dashboard_pages() {
        let to = |wanted: &str| place(&Form::default().with("to", wanted)).to_owned();
        let ours = ["/dashboard", "/dashboard/keys?use=enc", "/dashboard?range=day"];
        for wanted in ours {
            assert_eq!(to(wanted), wanted);
        }
        let others = [
            "",
            "https://evil.example/dashboard/",
            "//evil.example/dashboard",
            "/dashboards",
            "/admin/keys",
            "/dashboard/\\evil.example",
            "/dashboard/../admin/keys",
            "/dashboard/ x",
            "/dashboard/\u{202e}x",
        ];
        for wanted in others {
            assert_eq!(to(wanted), "/dashboard", "{wanted}");
        }
        let longest = format!("/dashboard/{}", "x".repeat(LONGEST_PLACE - 11));
        assert_eq!(to(&longest), longest);
        assert_eq!(to(&(longest + "x")), "/dashboard");
    }
}
