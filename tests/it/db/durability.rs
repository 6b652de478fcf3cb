//! Commits are on disk, whatever the default of the server is.

use sealward::db::{commit_durably, connect, servers};
use sealward::settings::Database as Settings;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use crate::support::Database;

#[tokio::test]
async fn a_connection_asks_for_durable_commits_and_keeps_stronger_demands() {
    let database = Database::new().await;
    for (default, expected) in [
        ("off", "on"),
        ("local", "on"),
        ("on", "on"),
        ("remote_write", "remote_write"),
        ("remote_apply", "remote_apply"),
    ] {
        let options = database.options().clone();
        let options = options.options([("synchronous_commit", default)]);
        let mut connection = options.connect().await.expect("a connection");
        commit_durably(&mut connection).await.expect("a setting");
        let setting: String = sqlx::query_scalar("SHOW synchronous_commit")
            .fetch_one(&mut connection)
            .await
            .expect("the setting");
        assert_eq!(setting, expected, "{default}");
    }
}

#[tokio::test]
async fn connections_of_the_service_commit_durably_if_the_database_does_not() {
    let database = Database::new().await;
    let name = database.options().get_database().expect("a name");
    let off = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    sqlx::query(AssertSqlSafe(off))
        .execute(&database.pool())
        .await
        .expect("a default");
    let settings = Settings {
        url: database.options().to_url_lossy().to_string(),
        ..Settings::default()
    };
    let servers = servers(&settings, None).expect("a URL");
    let primary = connect(servers, &settings).await.expect("a connection");
    let setting: String = sqlx::query_scalar("SHOW synchronous_commit")
        .fetch_one(primary.pool())
        .await
        .expect("the setting");
    assert_eq!(setting, "on");
}
