//! The authentication of a request, which an address cannot use to flood the database.

use std::net::IpAddr;

use super::Engine;
use crate::auth::{Admission, Caller, Credentials, Denied};
use crate::ratelimit::LookUp;

impl Engine {
    /// The caller with these credentials and this address. An unknown credential is looked up in
    /// the turn of its address.
    pub async fn authenticate(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
    ) -> Result<Caller, Denied> {
        let mut look_up = self.limiter.look_up(client);
        let authenticator = &self.authenticator;
        let caller = authenticator.authenticate(credentials, client, &mut look_up).await?;
        look_up.found();
        Ok(caller)
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
