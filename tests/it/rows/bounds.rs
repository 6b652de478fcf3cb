//! The bounds of values: no row that the login of the service writes is too long for the instances that read it, or has
//! a time or a number that they cannot read.

use engine::db::Pool;
use sqlx::AssertSqlSafe;

use super::forms::{sealed_tables, with_a_row_of_each_table};
use testkit::{Database, pool};

/// Columns with another bound.
const EXCEPTIONS: [&str; 2] = [
    // The partitions, one for each day that exists, bound it. Each request adds a row, and parses its CHECKs.
    "crypto_operations_audit.ts",
    // The sum of the lengths of several columns has its text with the marks between the items.
    "management_events.approved_by",
];

/// The types of items that are short.
const SHORT: [&str; 2] = ["uuid", "cidr"];

/// The functions that measure a value.
const LENGTHS: [&str; 3] = ["octet_length", "char_length", "length"];

/// The types of times.
const TIMES: [&str; 2] = ["timestamptz", "date"];

/// The types of numbers.
const NUMBERS: [&str; 2] = ["int8", "int4"];

/// A column that the login of the service can write, with texts of any length, times or numbers.
#[derive(sqlx::FromRow)]
struct Column {
    table_name: String,
    name: String,
    /// The type; of an array, that of its items.
    kind: String,
    is_array: bool,
    /// Whether the type bounds it.
    has_length: bool,
    /// The CHECKs that name it.
    checks: Vec<String>,
}

impl Column {
    async fn all(owner: &Pool) -> Vec<Self> {
        let sql = "SELECT c.relname::text AS table_name, a.attname::text AS name,
                          coalesce(item.typname, t.typname)::text AS kind, item.oid IS NOT NULL AS is_array,
                          a.atttypmod >= 0 AS has_length,
                          ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
                                 WHERE k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)) AS checks
                     FROM pg_class c
                     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
                     JOIN pg_type t ON t.oid = a.atttypid
                     LEFT JOIN pg_type item ON item.oid = t.typelem AND t.typcategory = 'A'
                    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
                      AND NOT c.relispartition
                      AND (has_column_privilege('sealward_application', c.oid, a.attnum, 'INSERT')
                           OR has_column_privilege('sealward_application', c.oid, a.attnum, 'UPDATE'))
                      AND (t.typlen < 0 AND t.typname NOT IN ('inet', 'cidr') OR t.typname = ANY ($1))
                    ORDER BY 1, 2";
        sqlx::query_as(sql)
            .bind([TIMES, NUMBERS].concat())
            .fetch_all(owner)
            .await
            .expect("the columns")
    }

    fn is_bounded(&self) -> bool {
        let kind = self.kind.as_str();
        match (self.is_array, TIMES.contains(&kind), NUMBERS.contains(&kind)) {
            (false, true, _) => {
                self.is_compared("LEAST", &[">= '"])
                    && self.is_compared("GREATEST", &["< '", "<= '"])
            }
            (false, _, true) => self.is_compared("LEAST", &[">= 0)", ">= 1)", "> 0)"]),
            _ => self.has_a_length(),
        }
    }

    /// Whether a CHECK compares it in one of these ways, or the result of this function, which ignores nulls.
    fn is_compared(&self, function: &str, ways: &[&str]) -> bool {
        ways.iter().any(|way| {
            let itself = format!("({} {way}", self.name);
            self.checks.iter().any(|check| check.contains(&itself))
                || self.is_result(&[function], &[*way])
        })
    }

    fn has_a_length(&self) -> bool {
        let is_short = SHORT.contains(&self.kind.as_str()) || self.is_listed();
        let is_short = is_short || self.is_limited(&LENGTHS);
        self.has_length || (is_short && (!self.is_array || self.is_limited(&["cardinality"])))
    }

    /// Whether its values, or its items, are named or match an expression of a bounded length.
    fn is_listed(&self) -> bool {
        let name = &self.name;
        let forms = [
            format!("({name} = ANY (ARRAY["),
            format!("CHECK (({name} = '"),
            format!("({name} <@ ARRAY["),
            format!("({name} ~ '^["),
        ];
        self.checks.iter().any(|check| forms.iter().any(|form| check.contains(form)))
    }

    /// Whether a result of one of these functions has a limit.
    fn is_limited(&self, functions: &[&str]) -> bool {
        self.is_result(functions, &["<= ", "= "])
    }

    /// Whether a result of one of these functions is compared in one of these ways.
    fn is_result(&self, functions: &[&str], ways: &[&str]) -> bool {
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        self.checks.iter().any(|check| {
            functions.iter().any(|function| {
                check.match_indices(&format!("{function}(")).any(|(at, call)| {
                    let (argument, rest) = until_closed(&check[at + call.len()..]);
                    let is_other = check[..at].ends_with(is_part);
                    let mut names = argument.split(|character: char| !is_part(character));
                    !is_other
                        && names.any(|name| name == self.name)
                        && rest
                            .strip_prefix(' ')
                            .is_some_and(|rest| ways.iter().any(|way| rest.starts_with(way)))
                })
            })
        })
    }
}

/// What precedes the parenthesis that closes an argument, and what follows it.
fn until_closed(text: &str) -> (&str, &str) {
    let mut open = 1;
    for (at, character) in text.char_indices() {
        match character {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return (&text[..at], &text[at + 1..]);
        }
    }
    panic!("an open parenthesis: {text}");
}

#[tokio::test]
async fn every_value_that_the_login_writes_has_a_bound() {
    let database = Database::new().await;
    let columns = Column::all(&pool(database.options().clone())).await;
    let tables = columns.iter().map(|column| column.table_name.as_str());
    for table in ["services", "crypto_operations_audit", "revisions", "traffic_minutes"] {
        assert!(tables.clone().any(|it| it == table), "{table}");
    }
    let unbounded = columns.iter().filter(|column| !column.is_bounded());
    let unbounded: Vec<_> =
        unbounded.map(|column| format!("{}.{}", column.table_name, column.name)).collect();
    assert_eq!(unbounded, EXCEPTIONS);
}

/// Ten rows with seals of 250 MB have 28 MB on disk, and would end each instance that examines them.
#[tokio::test]
async fn no_seal_is_too_long_to_be_read() {
    let database = Database::new().await;
    let owner = with_a_row_of_each_table(&database).await;
    let login = pool(database.as_application());
    for table in sealed_tables(&owner).await {
        let columns: Vec<String> = sqlx::query_scalar(
            "SELECT column_name::text FROM information_schema.columns
              WHERE table_name = $1 AND is_generated = 'NEVER' AND column_name <> 'seal'",
        )
        .bind(&table)
        .fetch_all(&owner)
        .await
        .expect("the columns");
        let list = columns.join(", ");
        // A seal with a possible length is refused because there is such a row.
        for (length, code) in [(64, "23505"), (65, "23514"), (1_000_000, "23514")] {
            let sql = format!(
                "INSERT INTO {table} ({list}, seal)
                 SELECT {list}, decode(repeat('00', {length}), 'hex') FROM {table} LIMIT 1"
            );
            let added = sqlx::query(AssertSqlSafe(sql)).execute(&login).await;
            let refused = added.expect_err(&table);
            let refused = refused.as_database_error().expect("an error of Postgres");
            assert_eq!(refused.code().as_deref(), Some(code), "{table}: {refused}");
            let is_of_seal = refused.constraint() == Some(format!("{table}_seal_check").as_str());
            assert_eq!(is_of_seal, code == "23514", "{table}: {refused}");
        }
    }
}

/// The calendar of the service has no such times. One of them would stop every query that reads it.
#[tokio::test]
async fn no_time_is_infinite() {
    let database = Database::new().await;
    with_a_row_of_each_table(&database).await;
    let login = pool(database.as_application());
    for (table, column) in [
        ("traffic_progress", "summed_up_to"),
        ("api_keys", "last_used_at"),
        ("api_keys", "expires_at"),
        ("identities", "last_used_at"),
        ("people", "last_seen_at"),
        ("dashboard_sessions", "seen_at"),
        ("keys", "activated_at"),
        ("keys", "expires_at"),
        ("services", "created_at"),
        ("changes", "expires_at"),
    ] {
        // The last one is in the calendar of Postgres, and after that of the service.
        for time in ["infinity", "-infinity", "9999-12-30 22:00:01Z"] {
            let sql = format!("UPDATE {table} SET {column} = '{time}'");
            let refused = sqlx::query(AssertSqlSafe(sql)).execute(&login).await;
            let refused = refused.expect_err(&format!("{table}.{column}: {time}"));
            let refused = refused.as_database_error().expect("an error of Postgres");
            assert_eq!(refused.code().as_deref(), Some("23514"), "{table}.{column}: {refused}");
        }
    }
    for row in [
        "traffic_minutes VALUES ('infinity', 'sign', '', 0, 1)",
        "service_minutes VALUES ('infinity', gen_random_uuid(), 1, 0)",
        "key_use_days VALUES (gen_random_uuid(), 'infinity', 1, 0, now(), NULL)",
        "key_use_days VALUES (gen_random_uuid(), '2026-01-01', 1, 0, 'infinity', NULL)",
        "key_opening_days VALUES (gen_random_uuid(), 'infinity', gen_random_uuid(), '', 1, 0)",
        "finished_logouts VALUES (decode(repeat('00', 32), 'hex'), 'infinity')",
    ] {
        let added = sqlx::query(AssertSqlSafe(format!("INSERT INTO {row}"))).execute(&login).await;
        let refused = added.expect_err(row);
        let refused = refused.as_database_error().expect("an error of Postgres");
        assert_eq!(refused.code().as_deref(), Some("23514"), "{row}: {refused}");
    }
    // Whoever writes 9999-12-31T23:59:59Z for never gets this.
    let never = "UPDATE keys SET expires_at = '9999-12-30 22:00Z'";
    sqlx::query(never).execute(&login).await.expect("the last time");
}

/// The sizes of a head are natural numbers, and sums of aggregates are not too large for Postgres.
#[tokio::test]
async fn no_number_is_negative_or_too_large_to_be_added() {
    let database = Database::new().await;
    let owner = pool(database.options().clone());
    let head = "INSERT INTO audit_log_heads (log, origin, size, root)
                VALUES (1, 'example.com/operations', 0, decode(repeat('00', 32), 'hex'))";
    sqlx::query(head).execute(&owner).await.expect("a head");
    let login = pool(database.as_application());
    for sql in [
        "UPDATE audit_log_heads SET checkpoint_size = -1",
        "UPDATE audit_log_heads SET cosigned_size = -1",
        "UPDATE audit_log_heads SET published_size = -1",
        "INSERT INTO traffic_minutes VALUES (now(), 'sign', '', 0, 9223372036854775807)",
        "INSERT INTO service_minutes VALUES (now(), gen_random_uuid(), 9223372036854775807, 0)",
        "INSERT INTO key_use_days VALUES (gen_random_uuid(), '2026-01-01', 9223372036854775807, 0, now(), NULL)",
        "INSERT INTO key_opening_days
         VALUES (gen_random_uuid(), '2026-01-01', gen_random_uuid(), '', 9223372036854775807, 0)",
    ] {
        let refused = sqlx::query(sql).execute(&login).await.expect_err(sql);
        let refused = refused.as_database_error().expect("an error of Postgres");
        assert_eq!(refused.code().as_deref(), Some("23514"), "{sql}: {refused}");
    }
}
