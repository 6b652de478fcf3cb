//! The authentication of a request, which an address cannot use to flood the database.

use std::net::IpAddr;

use super::Engine;
use crate::auth::{Admission, Caller, CredentialRefused, Credentials, Denied};
use crate::catalog::Unreadable;
use crate::ratelimit::{Exceeded, LookUp, Rule, Scope};

/// Why a request without a caller is refused.
#[derive(Clone, Debug)]
pub enum Unauthenticated {
    /// Its credential is not valid.
    Refused(CredentialRefused),
    /// Its address has failed too often.
    Limited(Exceeded),
    /// Its credential cannot be checked now.
    Unreadable(Unreadable),
    /// Its address has too many look-ups.
    Crowded,
}

impl Engine {
    /// The caller with these credentials and this address. An unknown credential is looked up in
    /// the turn of its address. After a rollback of the database, only administrators are callers.
    pub async fn authenticate(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
    ) -> Result<Caller, Denied> {
        let mut look_up = self.limiter.look_up(client);
        let authenticator = &self.authenticator;
        let caller = authenticator.authenticate(credentials, client, &mut look_up).await?;
        look_up.found();
        if caller.service_id().is_some() {
            self.check_not_rolled_back()?;
        }
        Ok(caller)
    }

    /// Fails while the rows of the database can be former ones.
    fn check_not_rolled_back(&self) -> Result<(), Unreadable> {
        let checked = self.database.seals().check_not_rolled_back();
        checked.map_err(|reason| sqlx::Error::from(reason).into())
    }

    /// Counts a failed authentication of this address.
    pub async fn unauthenticated(&self, client: IpAddr, denied: Denied) -> Unauthenticated {
        let refusal = match denied {
            Denied::Refused(refusal) => refusal,
            Denied::Unreadable(unreadable) => return Unauthenticated::Unreadable(unreadable),
            Denied::Crowded => return Unauthenticated::Crowded,
        };
        match self.limiter.take(Scope::Failures(client), Rule::FAILURES).await {
            // After a rollback, the database can have lost the credential.
            Ok(_) => match self.check_not_rolled_back() {
                Ok(()) => Unauthenticated::Refused(refusal),
                Err(reason) => Unauthenticated::Unreadable(reason),
            },
            Err(exceeded) => Unauthenticated::Limited(exceeded),
        }
    }
}

impl Admission for LookUp<'_> {
    async fn counted(&mut self) -> Result<(), Denied> {
        LookUp::counted(self).await.map_err(|_| Denied::Crowded)
    }

    async fn turn(&mut self) -> Result<(), Denied> {
        LookUp::turn(self).await.map_err(|_| Denied::Crowded)
    }

    fn found(self) {
        LookUp::found(self);
    }
}
