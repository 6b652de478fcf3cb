//! The callers of management requests.

use std::net::IpAddr;

use crate::auth::oidc::Provider;
use crate::auth::{Administrator, Caller, CallerId, Credentials, Denied, WrongKind};
use crate::body_memory::CallerMemory;
use crate::management::Actor;
use crate::ratelimit::{BucketState, Exceeded};
use crate::web::Engine;

/// An authenticated caller.
#[derive(Clone)]
pub enum AdminCaller {
    /// With an API key, or the token or certificate of a workload.
    Caller(Caller),
    /// With an access token of the provider.
    Person(Administrator),
}

impl AdminCaller {
    /// Authenticates the caller of a request.
    pub async fn identify(
        engine: &Engine,
        provider: Option<&Provider>,
        credentials: &Credentials<'_>,
        client: IpAddr,
    ) -> Result<Self, Denied> {
        let person = access_token_of_person(engine, provider, credentials, client);
        if let Some(person) = person.await? {
            return Ok(Self::Person(person));
        }
        engine.authenticate(credentials, client).await.map(Self::Caller)
    }

    pub fn id(&self) -> CallerId {
        match self {
            Self::Caller(caller) => caller.id(),
            Self::Person(person) => person.id(),
        }
    }

    /// The author of the events of its requests.
    pub fn actor(&self, request_id: String) -> Actor {
        match self {
            Self::Caller(caller) => Actor::caller(caller, request_id),
            Self::Person(person) => Actor::administrator(person, request_id),
        }
    }

    /// Takes one request from the limit of the caller.
    pub async fn admit(&self, engine: &Engine) -> Result<BucketState, Exceeded> {
        match self {
            Self::Caller(caller) => engine.admit(caller).await,
            Self::Person(person) => engine.admit_administrator(person).await,
        }
    }

    /// The state of the limit of the caller; takes nothing from it.
    pub async fn rate_limit(&self, engine: &Engine) -> BucketState {
        match self {
            Self::Caller(caller) => engine.rate_limit(caller).await,
            Self::Person(person) => engine.rate_limit_of_administrator(person).await,
        }
    }

    /// The memory for the bodies of the caller.
    pub fn memory<'a>(&self, engine: &'a Engine) -> CallerMemory<'a> {
        match self {
            Self::Caller(caller) => engine.memory_of(caller),
            Self::Person(person) => engine.body_memory.of(person.id().uuid()),
        }
    }

    /// This caller as an administrator.
    pub fn administrator(self) -> Result<Administrator, WrongKind> {
        match self {
            Self::Caller(caller) => caller.administrator(),
            Self::Person(person) => Ok(person),
        }
    }
}

/// The person with an access token of the provider; none for other credentials.
pub async fn access_token_of_person(
    engine: &Engine,
    provider: Option<&Provider>,
    credentials: &Credentials<'_>,
    client: IpAddr,
) -> Result<Option<Administrator>, Denied> {
    let (Some(provider), Some(token)) = (provider, credentials.token()) else {
        return Ok(None);
    };
    let mut look_up = engine.limiter.look_up(client);
    let (database, entropy) = (&engine.database, &engine.entropy);
    let person = provider.administrator(database, entropy, token, client, &mut look_up);
    let person = person.await?;
    if person.is_some() {
        look_up.found();
    }
    Ok(person)
}
