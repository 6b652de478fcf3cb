//! The database into which a drill restores.

use sqlx::Connection as _;
use sqlx::postgres::PgConnectOptions;

use super::store;
use crate::db::{self, Error, Pool, Primary, Servers};
use crate::settings::Database;
use formats::clock::Entropy;

/// The longest time that the server spends on a statement of the drill. A dump can have SQL that never ends.
const STATEMENT_TIMEOUT: &str = "600s";

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
    /// Creates the database on the server of these settings, with the login in their URL. The SQL of the dump runs with
    /// this login.
    ///
    /// # Errors
    /// The login can do more than create databases, or the server fails.
    pub async fn create(server: Database, entropy: &Entropy) -> Result<Self, Error> {
        let servers = db::servers(&server, None)?.each(|it| within(it, "pg_catalog"));
        let random = u64::from_be_bytes(entropy.bytes());
        let name = format!("{PREFIX}{random:016x}");
        let mut connection = db::connection(&servers, &server).await?;
        let excess = store::excess(&mut connection).await.map_err(Error::Scratch)?;
        if !excess.is_empty() {
            return Err(Error::ScratchLogin(excess));
        }
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

    /// The variables with which the programs of Postgres connect as Sealward does.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![("PGOPTIONS", db::program_options())];
        if self.servers.are_verified() {
            let ca = self.server.ca.as_ref().map(|path| path.display().to_string());
            let ca = ca.unwrap_or_else(|| "system".to_owned());
            variables.extend([("PGSSLMODE", "verify-full".to_owned()), ("PGSSLROOTCERT", ca)]);
        }
        variables
    }

    /// Connects to the database. The schema is that of the installation in the database of `service`.
    pub async fn connect(&self, service: &Pool) -> Result<Primary, Error> {
        let schema = store::schema(service).await.map_err(Error::Schema)?;
        let settings = Database { url: self.url(), ..self.server.clone() };
        let servers = db::servers(&settings, None)?.each(|it| within(it, &schema));
        db::connect(servers, &settings).await
    }

    /// Drops the database.
    pub async fn remove(self) -> Result<(), Error> {
        let mut connection = db::connection(&self.servers, &self.server).await?;
        store::drop_database(&mut connection, &self.name).await.map_err(Error::Scratch)?;
        let _ = connection.close().await;
        Ok(())
    }
}

/// The options of a session in this schema, whatever a dump has set for the login or the database.
fn within(options: PgConnectOptions, schema: &str) -> PgConnectOptions {
    db::in_schema(options, schema, STATEMENT_TIMEOUT)
}
