//! The forms of rows: a row that an earlier release sealed counts in this one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::db::Pool;
use engine::rows::examine_all;
use engine::seals::RowKey;
use sqlx::AssertSqlSafe;

use testkit::{Database, pool, seal_rows};

/// The rows of each form, and their seals: a table, an identifier and a seal in each line. A release with a new
/// form adds both files. Until a form is released, `SEALWARD_TEST_WRITE=1` writes its seals again.
const FORMS: [(&str, &str, &str); 1] =
    [("1", include_str!("forms/1.sql"), include_str!("forms/1.seals"))];

/// The revision of the rows: they were sealed after they were inserted.
const REVISION: i64 = 2;

/// Puts a row of each table whose rows are sealed into the database.
pub(super) async fn with_a_row_of_each_table(database: &Database) -> Pool {
    let [.., (_, rows, _)] = FORMS;
    with_rows(database, rows).await
}

/// A database with these rows, and the row key of their seals.
async fn with_rows(database: &Database, rows: &str) -> Pool {
    let pool = pool(database.options().clone());
    let key = RowKey::derive([(1, b"the row key of the rows of each form".as_slice())]);
    pool.seals().unlock(key.expect("a key"));
    run(&pool, &format!("BEGIN; SET LOCAL session_replication_role = replica; {rows}; COMMIT"))
        .await;
    pool
}

async fn run(pool: &Pool, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await.expect("rows");
}

/// The tables whose rows are sealed.
pub(super) async fn sealed_tables(pool: &Pool) -> Vec<String> {
    let sql = "SELECT table_name::text FROM information_schema.columns WHERE column_name = 'seal' ORDER BY 1";
    sqlx::query_scalar(sql).fetch_all(pool).await.expect("the tables")
}

#[tokio::test]
async fn rows_of_each_form_count() {
    for (form, rows, seals) in FORMS {
        let database = Database::new().await;
        let pool = with_rows(&database, rows).await;
        if is_writing() {
            write(&pool, form, seals).await;
            continue;
        }
        let mut sql = String::new();
        let lines = seals.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        for line in lines {
            let [table, id, seal] = line[..] else {
                panic!("{line:?}");
            };
            let _ = write!(
                sql,
                "UPDATE {table} SET seal = decode('{seal}', 'hex'), revision = {REVISION} WHERE id = '{id}';
                 INSERT INTO revisions VALUES ('{table}', '{id}', {REVISION}, 'made');"
            );
        }
        run(&pool, &sql).await;
        examine_all(&pool).await.expect("the rows");
        assert_eq!(pool.seals().findings(), [], "form {form}");
        for table in sealed_tables(&pool).await {
            assert!(seals.contains(&format!("{table} ")), "form {form} has no row of {table}");
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
fn is_writing() -> bool {
    std::env::var_os("SEALWARD_TEST_WRITE").is_some()
}

/// Writes the seals again. A session or a wrapping key ends when an operator seals it, so its line stays. The origin of a log
/// accepts nothing then, so its row here accepts nothing.
async fn write(pool: &Pool, form: &str, former: &str) {
    seal_rows(pool).await;
    let mut lines: BTreeMap<_, _> =
        former.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    let mut rows = Vec::new();
    for table in sealed_tables(pool).await {
        let sql = format!(
            "SELECT concat_ws(' ', '{table}', id), encode(seal, 'hex') FROM {table} WHERE seal IS NOT NULL"
        );
        let found = sqlx::query_as::<_, (String, String)>(AssertSqlSafe(sql)).fetch_all(pool);
        rows.extend(found.await.expect("the seals"));
    }
    lines.extend(rows.iter().map(|(row, seal)| (row.as_str(), seal.as_str())));
    let lines: String =
        lines.iter().fold(String::new(), |lines, (row, seal)| lines + row + " " + seal + "\n");
    let file = format!("{}/tests/it/rows/forms/{form}.seals", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(file, lines).expect("the seals");
}
