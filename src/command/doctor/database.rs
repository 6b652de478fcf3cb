//! The connection to the database, and what its login could do to the audit log.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::command::{Failure, startup};
use engine::audit::{self, Login};
use engine::db::{self, Pool, Primary};
use engine::settings::{Environment, Settings};

/// The connection, or why there is none. A new installation has no database yet.
pub(super) type DatabaseConnection = Result<Primary, String>;

pub(super) async fn connect(
    settings: &Settings,
    environment: &Environment,
) -> Result<DatabaseConnection, Failure> {
    match startup::connect(settings, environment).await {
        Ok(connected) => Ok(Ok(connected)),
        Err(Failure::Database(error)) => Ok(Err(error.to_string())),
        Err(failure) => Err(failure),
    }
}

/// The database, if it has the schema of this version.
pub(super) async fn current(database: &DatabaseConnection) -> Option<&Pool> {
    let pool = database.as_ref().ok()?.pool();
    db::check_schema(pool).await.ok().map(|_| pool)
}

/// Checks the login as `sealward serve` does.
pub(super) async fn login(database: &DatabaseConnection) -> Result<Login, String> {
    let pool = database.as_ref().map_err(Clone::clone)?.pool();
    audit::login(pool).await.map_err(|error| error.to_string())
}

/// For people.
pub(super) fn text(login: &Result<Login, String>) -> String {
    let mut page = String::from("Database login\n");
    // Writing to a string cannot fail.
    let _ = match login {
        Err(reason) => writeln!(page, "  not checked: {reason}\n"),
        Ok(login) if login.excess.is_empty() => {
            let name = &login.name;
            writeln!(page, "  {name} cannot change or delete audit records\n")
        }
        Ok(login) => {
            let name = &login.name;
            let excess = login.excess.join("\n    ");
            writeln!(page, "  {name} could change or delete audit records:\n    {excess}\n")
        }
    };
    if let Ok(login) = login
        && !login.settings.is_empty()
    {
        let settings = login.settings.join("\n    ");
        page.truncate(page.trim_end().len());
        let _ = writeln!(
            page,
            "\n  {} has settings, which it can change itself. Remove those that you do not know:\n    {settings}\n",
            login.name
        );
    }
    page
}

/// For programs.
pub(super) fn as_json(login: &Result<Login, String>) -> Value {
    match login {
        Err(reason) => json!({ "error": reason }),
        Ok(login) => {
            json!({ "name": login.name, "excess": login.excess, "settings": login.settings })
        }
    }
}
