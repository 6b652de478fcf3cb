//! Secrets that the tokens derive from internal keys.

use std::sync::Arc;

use super::Token;
use crate::keys::NewSecret;
use crate::session::Session;
use crate::threads::{Access, Device};
use crate::{HsmError, InternalSecret, keys};

impl Token {
    /// Makes the internal key of this generation on one token and returns its secret. The method is the
    /// first [`SecretMethod`](crate::SecretMethod) that the token supports and that returns the same
    /// secret twice.
    ///
    /// It is refused if a token holds this generation, because another key would derive another secret.
    /// So it also fails while one of the tokens is out. The caller prevents that two processes make one at
    /// the same time. The other tokens hold the key once the vendor's tools copy it.
    pub async fn make_internal_secret(&self, generation: u32) -> Result<InternalSecret, HsmError> {
        let check = move |session: &Session| keys::check_is_absent(session, generation);
        for (_, is_absent) in self.dispatcher.on_each(Access::Read, check).await {
            is_absent?;
        }
        let mut secret = NewSecret::new(generation);
        let work = move |session: &Session| secret.make(session);
        self.dispatcher.write(work).await
    }

    /// The secrets of all generations, lowest first, for each token by its label, in the order of the
    /// configuration, also for excluded tokens. A token without internal keys has an empty list. A token
    /// with two keys of one generation fails.
    pub async fn internal_secrets(&self) -> Vec<(String, Result<Vec<InternalSecret>, HsmError>)> {
        let each = self.dispatcher.on_each_working(Access::Read, keys::internal_secrets).await;
        let named = |(device, secrets): (Arc<Device>, _)| (device.label().to_owned(), secrets);
        each.into_iter().map(named).collect()
    }

    /// Destroys the internal key of this generation on every token, also several on one token. Fails
    /// while one of the tokens is out, and is `KeyMissing` if none holds the key.
    pub async fn destroy_internal_secret(&self, generation: u32) -> Result<(), HsmError> {
        let work = move |session: &Session| keys::destroy_internal_secret(session, generation);
        self.destroy_on_each(work).await
    }
}
