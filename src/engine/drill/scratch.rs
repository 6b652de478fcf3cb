//! The database into which a drill restores.

use sqlx::Connection as _;

use super::store;
use crate::db::{self, Error, Primary, Servers};
use crate::settings::Database;
use formats::clock::Entropy;

/// The beginning of its name, by which an operator finds one that a killed drill has left.
const PREFIX: &str = "sealward_drill_";

/// An empty database on a server. Whoever creates it drops it.
#[derive(Debug)]
pub struct ScratchDatabase {
    server: Database,
    servers: Servers,
    name: String,
}

impl ScratchDatabase {
    /// Creates the database on the server of these settings, with the login in their URL.
    pub async fn create(server: Database, entropy: &Entropy) -> Result<Self, Error> {
        let servers = db::servers(&server, None)?;
        let random = u64::from_be_bytes(entropy.bytes());
        let name = format!("{PREFIX}{random:016x}");
        let mut connection = db::connection(&servers, &server).await?;
        store::create_database(&mut connection, &name).await.map_err(Error::Scratch)?;
        let _ = connection.close().await;
        Ok(Self { server, servers, name })
    }

    /// The URL of the database, without a password.
    pub fn url(&self) -> String {
        let url = &self.server.url;
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}dbname={}", self.name)
    }

    /// The variables with which the programs of Postgres verify the server as Sealward does.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        if !self.servers.are_verified() {
            return Vec::new();
        }
        let ca = self.server.ca.as_ref().map(|path| path.display().to_string());
        let ca = ca.unwrap_or_else(|| "system".to_owned());
        vec![("PGSSLMODE", "verify-full".to_owned()), ("PGSSLROOTCERT", ca)]
    }

    /// Connects to the database.
    pub async fn connect(&self) -> Result<Primary, Error> {
        let settings = Database { url: self.url(), ..self.server.clone() };
        db::connect(db::servers(&settings, None)?, &settings).await
    }

    /// Drops the database.
    pub async fn remove(self) -> Result<(), Error> {
        let mut connection = db::connection(&self.servers, &self.server).await?;
        store::drop_database(&mut connection, &self.name).await.map_err(Error::Scratch)?;
        let _ = connection.close().await;
        Ok(())
    }
}
