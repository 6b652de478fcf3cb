//! The daily partitions.

use sqlx::PgConnection;

use formats::clock::Timestamp;

/// Creates the missing partitions for the days of these times.
pub(in crate::audit) async fn make_days(
    connection: &mut PgConnection,
    moments: impl Iterator<Item = Timestamp>,
) -> Result<(), sqlx::Error> {
    let moments: Vec<_> = moments.collect();
    sqlx::query(
        "SELECT make_audit_day(day) FROM \
         (SELECT DISTINCT (ts AT TIME ZONE 'UTC')::date AS day FROM UNNEST($1::timestamptz[]) AS ts) \
         AS days",
    )
    .bind(moments)
    .execute(connection)
    .await?;
    Ok(())
}

/// Creating an index takes longer than statements usually may.
pub(in crate::audit) async fn allow_long_statements(
    connection: &mut PgConnection,
) -> sqlx::Result<()> {
    sqlx::query("SET statement_timeout = 0").execute(connection).await?;
    Ok(())
}

/// Creates the query indexes of the oldest day before `moment` that lacks them.
pub(in crate::audit) async fn close_day(
    connection: &mut PgConnection,
    moment: Timestamp,
) -> sqlx::Result<Option<String>> {
    let sql = "SELECT close_audit_day(($1::timestamptz AT TIME ZONE 'UTC')::date)::text";
    let closed = sqlx::query_scalar(sql).bind(moment);
    closed.fetch_one(connection).await
}
