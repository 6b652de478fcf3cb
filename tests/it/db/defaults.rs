//! Settings that the service does not take from the defaults of the database and of its login.

use sqlx::{AssertSqlSafe, ConnectOptions as _};

use engine::audit;
use engine::db::{self, as_application};
use testkit::{Database, pool};

/// A setting, a default that would harm, and what the service has.
const SETTINGS: [(&str, &str, &str); 10] = [
    // Commits are on disk.
    ("synchronous_commit", "off", "on"),
    // A search in an index of a closed day finds every record.
    ("gin_fuzzy_search_limit", "1", "0"),
    ("lock_timeout", "1ms", "0"),
    ("idle_in_transaction_session_timeout", "1ms", "0"),
    ("idle_session_timeout", "1ms", "0"),
    ("transform_null_equals", "on", "off"),
    ("exit_on_error", "on", "off"),
    // The signatures of functions would differ from those in a drill.
    ("quote_all_identifiers", "on", "off"),
    // Otherwise no session of the login begins.
    ("local_preload_libraries", "nowhere", ""),
    ("search_path", "nowhere", "\"$user\", public"),
];

#[tokio::test]
async fn the_service_does_not_take_these_defaults() {
    let database = Database::new().await;
    let name = database.options().get_database().expect("a name");
    let mut owner = database.options().connect().await.expect("a connection");
    for (setting, harmful, _) in SETTINGS {
        let default = format!("ALTER DATABASE {name} SET {setting} = '{harmful}'");
        sqlx::query(AssertSqlSafe(default)).execute(&mut owner).await.expect("a default");
    }
    for (setting, _, expected) in SETTINGS {
        let mut connection = database.as_application().connect().await.expect("a connection");
        let shown: String = sqlx::query_scalar(AssertSqlSafe(format!("SHOW {setting}")))
            .fetch_one(&mut connection)
            .await
            .expect("the setting");
        assert_eq!(shown, expected, "{setting}");
    }
}

/// A login can change its own settings, which stay when its password is another one.
#[tokio::test]
async fn the_service_starts_whatever_its_login_has_set_and_doctor_names_it() {
    let database = Database::new().await;
    let name = database.options().get_database().expect("a name").to_owned();
    let login = database.login(&["sealward_application"]).await;
    let user = login.get_username().to_owned();
    let mut attacker = login.connect().await.expect("a connection");
    let mut expected = Vec::new();
    for (place, (setting, harmful, _)) in SETTINGS.into_iter().enumerate() {
        let place = if place % 2 == 0 { String::new() } else { format!("IN DATABASE {name} ") };
        let of_login = format!("ALTER ROLE CURRENT_USER {place}SET {setting} = '{harmful}'");
        sqlx::query(AssertSqlSafe(of_login)).execute(&mut attacker).await.expect("a setting");
        expected.push(format!("{setting}={harmful}: ALTER ROLE {user} {place}RESET {setting}"));
    }
    let lines = "ALTER ROLE CURRENT_USER SET default_tablespace = E'a\nevery row counts'";
    sqlx::query(lines).execute(&mut attacker).await.expect("a setting");
    let shown = "default_tablespace=a?every row counts";
    expected.push(format!("{shown}: ALTER ROLE {user} RESET default_tablespace"));
    login.connect().await.expect_err("a library that does not exist");
    let service = pool(as_application(login));
    db::check_schema(&service).await.expect("the schema");
    let found = audit::login(&service).await.expect("the login");
    assert_eq!(found.excess, Vec::<String>::new());
    expected.sort();
    assert_eq!(found.settings, expected);
}

/// The URL can name the schema of the installation.
#[tokio::test]
async fn the_search_path_of_the_url_stays() {
    let database = Database::new().await;
    let own = database.options().clone().options([("search_path", "own,public")]);
    let mut connection = as_application(own).connect().await.expect("a connection");
    let path: String =
        sqlx::query_scalar("SHOW search_path").fetch_one(&mut connection).await.expect("the path");
    assert_eq!(path, "own,public");
}
