//! The Rust client with a running service.

mod columns;
mod files;
mod local;
mod management;
mod runtime;

use std::net::SocketAddr;

use sealward_client::{Builder, Client, Credential, Scope};
use testkit::{Destination, World};

/// A service on a port of its own.
pub(crate) struct Served {
    pub(crate) world: World,
    pub(crate) address: SocketAddr,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::of(World::new().await).await
    }

    pub(crate) async fn of(world: World) -> Self {
        let address = world.served(None).await;
        Self { world, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn builder(&self) -> Builder {
        Builder::new(self.url())
    }

    /// A client with this API key.
    pub(crate) fn client(&self, key: &str) -> Client {
        let builder = self.builder().credential(Credential::api_key(key.to_owned()));
        builder.build().expect("a client")
    }

    /// A client with the admin key.
    pub(crate) fn admin(&self) -> Client {
        self.client(self.world.admin_key())
    }

    /// The API key of a new application that is bound to a policy of a new destination.
    pub(crate) async fn bound_key(&self) -> (Destination, String) {
        let (destination, application) = self.world.bound_application().await;
        (destination, application.key.expect("its key"))
    }

    /// A client of such an application.
    pub(crate) async fn bound(&self) -> (Destination, Client) {
        let (destination, key) = self.bound_key().await;
        (destination, self.client(&key))
    }
}

fn tenant(name: &str) -> Scope {
    Scope::new().context([("tenant", name)])
}
