//! Postgres is read-only, like a standby.

use sqlx::{AssertSqlSafe, PgConnection};

use crate::faults::fixture::{Fixture, SHORT_LIMITS};
use crate::faults::load::Action;
use testkit::Site;

/// The actions that write.
const WRITES: [Action; 4] = [Action::Protect, Action::Unprotect, Action::Hash, Action::Change];

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_postgres_serves_reads_and_causes_refusals_of_writes() {
    let fixture = Fixture::at(Site::new().await, &SHORT_LIMITS).await;
    let mut owner = fixture.site().connect().await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    // The setting applies to new connections.
    alter(&mut owner, "SET default_transaction_read_only = on").await;
    close_connections(&mut owner).await;
    load.is_refused(&WRITES).await;
    load.is_served(&[Action::Read]).await;
    // Read-only connections stay read-only until the service closes them.
    alter(&mut owner, "RESET default_transaction_read_only").await;
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}

async fn alter(owner: &mut PgConnection, what: &str) {
    let name: String = sqlx::query_scalar("SELECT current_database()")
        .fetch_one(&mut *owner)
        .await
        .expect("its name");
    let sql = AssertSqlSafe(format!("ALTER DATABASE {name} {what}"));
    sqlx::raw_sql(sql).execute(owner).await.expect("change the database");
}

/// Closes all other connections.
async fn close_connections(owner: &mut PgConnection) {
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .execute(owner)
    .await
    .expect("close the connections");
}
