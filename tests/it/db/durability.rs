//! Commits of the service are on disk, whatever the default of the server is.

use sqlx::{AssertSqlSafe, ConnectOptions as _};

use testkit::Database;

#[tokio::test]
async fn the_service_commits_durably_if_the_database_does_not() {
    let database = Database::new().await;
    let name = database.options().get_database().expect("a name");
    let off = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    sqlx::query(AssertSqlSafe(off)).execute(&database.pool()).await.expect("a default");
    for (options, expected) in
        [(database.options().clone(), "off"), (database.as_application(), "on")]
    {
        let mut connection = options.connect().await.expect("a connection");
        let setting: String = sqlx::query_scalar("SHOW synchronous_commit")
            .fetch_one(&mut connection)
            .await
            .expect("the setting");
        assert_eq!(setting, expected);
    }
}
