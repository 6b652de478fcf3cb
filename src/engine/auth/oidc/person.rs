//! The person with an access token.

use std::net::IpAddr;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{Provider, profile};
use crate::auth::{Administrator, Admission, CredentialRefused, Denied, Person, TokenKind};
use crate::catalog::Unreadable;
use crate::db::Pool;
use crate::ids::PersonId;
use crate::jwt::{TokenRefused, Unverified};
use formats::clock::{Entropy, Timestamp};

impl Provider {
    /// The person with this access token, as an administrator with their roles by its groups. None if the provider did not
    /// issue it for the management API. The verification of a new token counts for `admission`, and the
    /// record of its person waits for its turn.
    pub async fn administrator(
        &self,
        database: &Pool,
        entropy: &Entropy,
        token: &str,
        client: IpAddr,
        admission: &mut impl Admission,
    ) -> Result<Option<Administrator>, Denied> {
        let person = self.person(database, entropy, token, admission).await?;
        Ok(person.map(|person| Administrator::with_token(person, client)))
    }

    async fn person(
        &self,
        database: &Pool,
        entropy: &Entropy,
        token: &str,
        admission: &mut impl Admission,
    ) -> Result<Option<Arc<Person>>, Denied> {
        let Some(tokens) = &self.0.access_tokens else {
            return Ok(None);
        };
        let (digest, now) = (Sha256::digest(token).into(), self.0.clock.now());
        if let Some((id, issued_at)) = tokens.known(&digest, now).await {
            // A later token of the person may have given or taken roles.
            let person = Person::read(database, id).await.map_err(Unreadable::from)?;
            return Ok(person.map(|person| accepted(person, issued_at)).transpose()?);
        }
        let unverified = Unverified::parse(token).map_err(CredentialRefused::from)?;
        if !tokens.are_of(&unverified) {
            return Ok(None);
        }
        // The verification can wait for the issuer, so it takes no turn of others.
        admission.counted().await?;
        let settings = &self.0.settings;
        let verified = tokens.verify(settings, unverified, now).await;
        let Some(token) = verified.map_err(CredentialRefused::from)? else {
            return Ok(None);
        };
        let source = TokenKind::Access { has_public_subject: self.has_public_subjects().await };
        let profile = profile::of(settings, &token, source)
            .map_err(|_| CredentialRefused::from(TokenRefused::Claim))?;
        admission.turn().await?;
        let id = PersonId::new(&self.0.clock, entropy);
        let person = Person::record(database, (id, now), &profile);
        let person = person.await.map_err(Unreadable::from)?;
        let person = person.ok_or(CredentialRefused::InvalidRow)?;
        let person = accepted(person, token.issued_at)?;
        tokens.remember(digest, token, person.id()).await;
        Ok(Some(person))
    }

    /// Whether a person has the same subject in ID tokens and access tokens. Not if the provider is
    /// unavailable: the next sign-in or token confirms the person.
    async fn has_public_subjects(&self) -> bool {
        let metadata = self.metadata().await;
        metadata.is_ok_and(|metadata| metadata.has_public_subjects())
    }
}

/// The person, unless they are locked, or were locked after the token was issued.
fn accepted(
    person: Arc<Person>,
    issued_at: Option<Timestamp>,
) -> Result<Arc<Person>, CredentialRefused> {
    if person.accepts(issued_at) { Ok(person) } else { Err(CredentialRefused::Locked) }
}
