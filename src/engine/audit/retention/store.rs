//! The functions that retire days.

use sqlx::PgConnection;

use formats::clock::Timestamp;

/// Why days were not retired.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    /// This login is not a member of the role that detaches days.
    #[error("the login of retain.url cannot detach days: GRANT sealward_retention TO it")]
    NotAMember,
    /// The owner of the schema keeps more days.
    #[error("retain.days must be at least the minimum that the owner of the schema has set: {0}")]
    TooYoung(String),
    /// Records of the oldest day are not sealed.
    #[error(
        "{0}: wait until `sealward serve` has sealed them; if an event `row.invalid` names such a record, \
         it cannot be sealed, and the owner of the schema can detach the table of the day"
    )]
    Unsealed(String),
    /// A collector does not have all records of the oldest day.
    #[error(
        "{0}: wait until `sealward serve` has sent them, or run `sealward audit remove-target`"
    )]
    NotForwarded(String),
    /// The table of the oldest day contains another period.
    #[error("{0}: detach this table as the owner of the schema when its records are old enough")]
    OtherPeriod(String),
    /// The audit log is in use.
    #[error(
        "a query or a backup uses the audit log: run `sealward retain` again after it has ended"
    )]
    Locked,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum RetentionStep {
    Detach,
    Drop,
}

fn failure(error: sqlx::Error) -> RetentionError {
    let Some(refusal) = error.as_database_error() else {
        return RetentionError::Database(error);
    };
    // It names targets as they are in the database.
    let message = refusal.message().replace(char::is_control, "\u{fffd}");
    match refusal.code().as_deref() {
        Some("55P03") => RetentionError::Locked,
        Some("42501") => RetentionError::NotAMember,
        Some("SW002") => RetentionError::Unsealed(message),
        Some("SW003") => RetentionError::NotForwarded(message),
        Some("SW004") => RetentionError::OtherPeriod(message),
        Some("SW001") => RetentionError::TooYoung(message),
        _ => RetentionError::Database(error),
    }
}

/// Switches to the role that may retire days and nothing else.
pub(super) async fn assume_role(connection: &mut PgConnection) -> Result<(), RetentionError> {
    let role = sqlx::query("SET ROLE sealward_retention");
    role.execute(connection).await.map_err(failure)?;
    Ok(())
}

/// Detaches the oldest day before `moment`, or drops the oldest detached one.
pub(super) async fn retire(
    connection: &mut PgConnection,
    step: RetentionStep,
    moment: Timestamp,
) -> Result<Option<String>, RetentionError> {
    let sql = match step {
        RetentionStep::Detach => {
            "SELECT detach_audit_day(($1::timestamptz AT TIME ZONE 'UTC')::date)::text"
        }
        RetentionStep::Drop => {
            "SELECT drop_audit_day(($1::timestamptz AT TIME ZONE 'UTC')::date)::text"
        }
    };
    let retired = sqlx::query_scalar(sql).bind(moment);
    retired.fetch_one(connection).await.map_err(failure)
}
