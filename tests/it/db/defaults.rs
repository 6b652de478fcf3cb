//! Settings that the service does not take from the defaults of the database and of its login.

use sqlx::{AssertSqlSafe, ConnectOptions as _};

use testkit::Database;

/// A setting, a default that would harm, and what the service has.
const SETTINGS: [(&str, &str, &str); 6] = [
    // Commits are on disk.
    ("synchronous_commit", "off", "on"),
    // A search in an index of a closed day finds every record.
    ("gin_fuzzy_search_limit", "1", "0"),
    ("lock_timeout", "1ms", "0"),
    ("idle_in_transaction_session_timeout", "1ms", "0"),
    ("idle_session_timeout", "1ms", "0"),
    ("transform_null_equals", "on", "off"),
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
