//! The exchange of an authorization code for an ID token, and the verification of the token.

use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::metadata::Metadata;
use super::{Binding, NotSignedIn, OK, Provider, profile, store};
use crate::auth::{Administrator, Person, TokenKind};
use crate::catalog::Unreadable;
use crate::db::Pool;
use crate::ids::PersonId;
use crate::jwt::{Unverified, VerifiedToken};
use formats::clock::Entropy;

/// The parameters of the redirect from the provider.
#[derive(Clone, Copy, Debug)]
pub struct Redirect<'a> {
    /// The code, unless the provider refused the request.
    pub code: Option<&'a str>,
    /// The error of the provider.
    pub error: Option<&'a str>,
    /// The issuer (RFC 9207).
    pub issuer: Option<&'a str>,
    /// The network of the client. The clients of a network share requests to the provider.
    pub network: IpAddr,
}

/// A person whom the provider authenticated.
#[derive(Debug)]
pub struct SignedIn {
    /// The person with their roles.
    pub administrator: Administrator,
    /// The session at the provider, which a logout can name.
    pub session: Option<String>,
}

/// The errors of a provider that say nothing about the person (RFC 6749, section 4.1.2.1).
const FAILURES: [&str; 2] = ["server_error", "temporarily_unavailable"];

/// The claim of the session at the provider.
const SESSION: &str = "sid";

#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
}

#[derive(Deserialize)]
struct ErrorResponse {
    error: String,
}

impl Provider {
    /// Signs in the person whom the provider authenticated.
    pub async fn sign_in(
        &self,
        database: &Pool,
        entropy: &Entropy,
        client: IpAddr,
        binding: Binding<'_>,
        redirect: Redirect<'_>,
    ) -> Result<SignedIn, NotSignedIn> {
        let token = self.redeem(database, binding, redirect).await?;
        let profile = profile::of(&self.0.settings, &token, TokenKind::Id)?;
        let id = PersonId::new(&self.0.clock, entropy);
        let person = Person::record(database, (id, self.0.clock.now()), &profile).await;
        let person = person.map_err(Unreadable::from)?;
        if person.as_ref().is_none_or(|person| person.is_locked()) {
            return Err(NotSignedIn::Locked(profile.subject));
        }
        let administrator = person.and_then(|person| Administrator::signed_in(person, client));
        let administrator = administrator.ok_or(NotSignedIn::NoRole(profile.subject))?;
        let session = token.claims.get(SESSION).and_then(serde_json::Value::as_str);
        if session.is_some_and(|session| session.contains('\0')) {
            return Err(NotSignedIn::Claim(SESSION));
        }
        Ok(SignedIn { administrator, session: session.map(str::to_owned) })
    }

    /// The ID token of the person whom the provider authenticated. They can have no roles.
    async fn redeem(
        &self,
        database: &Pool,
        binding: Binding<'_>,
        redirect: Redirect<'_>,
    ) -> Result<VerifiedToken, NotSignedIn> {
        let metadata = self.metadata().await?;
        // The redirect of another provider (mix-up attack).
        match redirect.issuer {
            Some(issuer) if issuer != self.issuer() => return Err(NotSignedIn::Claim("iss")),
            None if metadata.authorization_response_iss_parameter_supported => {
                return Err(NotSignedIn::Claim("iss"));
            }
            Some(_) | None => {}
        }
        if let Some(error) = redirect.error {
            let answer = printable(error);
            return Err(match FAILURES.contains(&error) {
                true => NotSignedIn::Unavailable(answer),
                false => NotSignedIn::Refused(answer),
            });
        }
        let code = redirect.code.ok_or(NotSignedIn::Claim("code"))?;
        let state = Sha256::digest(binding.state).into();
        let finished = store::finish(database, &state, self.0.clock.now()).await;
        if !finished.map_err(Unreadable::from)? {
            return Err(NotSignedIn::Repeated);
        }
        let exchanged = self.exchange(&metadata, code, binding.verifier, redirect.network);
        let token = exchanged.await?;
        self.verify(&token, binding.nonce).await
    }

    /// Exchanges a code for an ID token.
    async fn exchange(
        &self,
        metadata: &Metadata,
        code: &str,
        verifier: &str,
        network: IpAddr,
    ) -> Result<Zeroizing<String>, NotSignedIn> {
        let (client, secret) = (&self.0.settings.client_id, self.0.secret.expose_secret());
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.0.redirect_uri),
            ("code_verifier", verifier),
        ];
        let authorization = if metadata.wants_secret_in_body() {
            fields.extend([("client_id", client.as_str()), ("client_secret", secret)]);
            None
        } else {
            Some(basic(client, secret))
        };
        let form = encoded(&fields);
        let url = metadata.token_endpoint.clone();
        let sent = self.request(Some(network), move |agent| {
            let mut request = agent
                .post(url)
                .header("Accept", "application/json")
                .header("Content-Type", "application/x-www-form-urlencoded");
            if let Some(authorization) = &authorization {
                request = request.header("Authorization", authorization.as_str());
            }
            request.send(form.as_str())
        });
        let (status, body) = sent.await?;
        let body = Zeroizing::new(body);
        if status == OK {
            let answer: Result<TokenResponse, _> = serde_json::from_slice(&body);
            return answer
                .map(|answer| Zeroizing::new(answer.id_token))
                .map_err(|_| NotSignedIn::Claim("id_token"));
        }
        Err(match serde_json::from_slice::<ErrorResponse>(&body) {
            Ok(failure) if (400..500).contains(&status) => {
                NotSignedIn::Refused(printable(&failure.error))
            }
            Ok(_) | Err(_) => {
                NotSignedIn::Unavailable(format!("the response has the status {status}"))
            }
        })
    }

    /// Verifies an ID token (OpenID Connect Core, section 3.1.3.7).
    async fn verify(&self, token: &str, nonce: &str) -> Result<VerifiedToken, NotSignedIn> {
        let now = self.0.clock.now();
        let token = self.0.id_tokens.verify(Unverified::parse(token)?, now);
        let token = token.await?;
        let text = |name| token.claims.get(name).and_then(serde_json::Value::as_str);
        if text("nonce") != Some(nonce) {
            return Err(NotSignedIn::Claim("nonce"));
        }
        let has_one_audience = match token.claims.get("aud") {
            Some(serde_json::Value::Array(audiences)) => audiences.len() == 1,
            Some(_) | None => true,
        };
        let party = token.claims.get("azp").and_then(serde_json::Value::as_str);
        let is_ours = match party {
            Some(party) => party == self.0.settings.client_id,
            None => has_one_audience,
        };
        if is_ours { Ok(token) } else { Err(NotSignedIn::Claim("azp")) }
    }
}

fn encoded(fields: &[(&str, &str)]) -> Zeroizing<String> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    Zeroizing::new(form.extend_pairs(fields).finish())
}

/// HTTP Basic with both parts encoded (RFC 6749, section 2.3.1).
fn basic(client: &str, secret: &str) -> Zeroizing<String> {
    let encode = |text: &str| {
        let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        Zeroizing::new(encoded)
    };
    let pair = Zeroizing::new(format!("{}:{}", *encode(client), *encode(secret)));
    Zeroizing::new(format!("Basic {}", BASE64_STANDARD.encode(pair.as_str())))
}

/// An error code of the provider, for events and the log.
fn printable(error: &str) -> String {
    let is_code = |character: &char| character.is_ascii_graphic();
    error.chars().filter(is_code).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_of_basic_credentials_are_encoded() {
        let header = basic("a b", "c:d%");
        let encoded = header.strip_prefix("Basic ").unwrap();
        assert_eq!(BASE64_STANDARD.decode(encoded).unwrap(), b"a+b:c%3Ad%25");
    }

    #[test]
    fn error_codes_are_short_and_printable() {
        assert_eq!(printable("access_denied\n\u{202e}"), "access_denied");
        assert_eq!(printable(&"a".repeat(100)).len(), 64);
    }
}
