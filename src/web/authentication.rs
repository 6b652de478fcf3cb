//! The authentication of a request, which an address cannot use to flood the database.

use std::net::IpAddr;

use super::Resources;
use crate::auth::{Caller, Credentials, Denied};

impl Resources {
    /// The caller with these credentials and this address. An unknown credential is looked up in
    /// the turn of its address.
    ///
    /// # Errors
    /// The credential is not valid, or cannot be checked now.
    pub async fn authenticate(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
    ) -> Result<Caller, Denied> {
        let mut look_up = self.limiter.look_up(client);
        let admission = async { look_up.turn().await.map_err(|_| Denied::Crowded) };
        let authenticator = &self.authenticator;
        let caller = authenticator
            .authenticate(credentials, client, admission)
            .await?;
        look_up.found();
        Ok(caller)
    }
}
