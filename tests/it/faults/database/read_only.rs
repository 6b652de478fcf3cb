//! A Postgres that takes no writes, as a standby or one whose operator is short of disk.

use sqlx::{AssertSqlSafe, PgConnection};

use crate::faults::crowd::Wish;
use crate::faults::house::{HURRIED, House};
use crate::process::Site;

/// What cannot be done without writing.
const WRITES: [Wish; 4] = [Wish::Protect, Wish::Unprotect, Wish::Hash, Wish::Change];

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_only_reads_has_writes_refused_and_is_still_read() {
    let house = House::at(Site::new().await, &HURRIED).await;
    let mut owner = house.site().connect().await;
    let crowd = house.crowd();
    crowd.is_served(&Wish::ALL).await;
    // It holds for connections made from now on.
    alter(&mut owner, "SET default_transaction_read_only = on").await;
    hang_up(&mut owner).await;
    crowd.is_refused(&WRITES).await;
    crowd.is_served(&[Wish::Look]).await;
    // Those made meanwhile go on reading only, until the service lets go of them.
    alter(&mut owner, "RESET default_transaction_read_only").await;
    crowd.is_served(&Wish::ALL).await;
    house.accounts_for(crowd.end().await).await;
}

async fn alter(owner: &mut PgConnection, what: &str) {
    let name: String = sqlx::query_scalar("SELECT current_database()")
        .fetch_one(&mut *owner)
        .await
        .expect("its name");
    let sql = AssertSqlSafe(format!("ALTER DATABASE {name} {what}"));
    sqlx::raw_sql(sql).execute(owner).await.expect("it is done");
}

/// Ends the connections of everybody else.
async fn hang_up(owner: &mut PgConnection) {
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .execute(owner)
    .await
    .expect("they end");
}
