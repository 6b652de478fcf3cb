//! The client.

use std::sync::Arc;
use std::time::Duration;

use crate::data_keys::{CacheLimits, DataKeyCache};
use crate::error::Error;
use crate::local::Lookups;
use crate::transport::{Answer, Call, Overrides, Transport};
use crate::{Builder, Management};

/// A client for the runtime API, and for the management API with [`Client::admin`].
///
/// A clone shares the connections, and costs little. Nothing that a client prints contains a secret.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    overrides: Overrides,
}

#[derive(Debug)]
struct Shared {
    transport: Transport,
    lookups: Lookups,
    data_keys: DataKeyCache,
}

impl Client {
    /// A builder for the service at this address.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(url)
    }

    /// A client with the settings in the environment, as [`Builder::from_env`] describes them. One credential is required.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        Builder::from_variables(variable)?.with_credential_of_environment()?.build()
    }

    pub(crate) fn over(transport: Transport, cache: Option<CacheLimits>) -> Self {
        let data_keys = DataKeyCache::new(cache);
        let shared = Shared { transport, lookups: Lookups::default(), data_keys };
        Self { shared: Arc::new(shared), overrides: Overrides::default() }
    }

    /// This client with the ID that its requests carry to the logs of Sealward.
    ///
    /// It has 1 to 128 printable ASCII characters. Without it, Sealward makes an ID for each request.
    pub fn with_request_id(&self, id: impl Into<String>) -> Self {
        let overrides = Overrides { request_id: Some(id.into()), ..self.overrides.clone() };
        Self { overrides, ..self.clone() }
    }

    /// This client with another deadline for each call.
    pub fn with_deadline(&self, deadline: Duration) -> Self {
        let overrides = Overrides { deadline: Some(deadline), ..self.overrides.clone() };
        Self { overrides, ..self.clone() }
    }

    /// The management API.
    pub fn admin(&self) -> Management<'_> {
        Management::new(self)
    }

    pub(crate) fn lookups(&self) -> &Lookups {
        &self.shared.lookups
    }

    pub(crate) fn data_key_cache(&self) -> &DataKeyCache {
        &self.shared.data_keys
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.shared.transport
    }

    pub(crate) fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    pub(crate) async fn answer(&self, call: Call<'_>) -> Result<Answer, Error> {
        self.transport().answer(&call, &self.overrides).await
    }
}
