//! Reports: what an auditor asks for, as a signed file.
//!
//! A report is made from a snapshot of the database whose changes are all in the audit log, and names the
//! checkpoints of both logs. It contains no other time than those of its content, so that two reports at the same
//! checkpoints and of the same day are the same bytes.

#![deny(clippy::wildcard_enum_match_arm)]

mod cbom;
mod day;
mod entry;
mod envelopes;
mod filter;
mod people;
mod read;
mod register;
mod signature;
mod store;
mod table;
mod tls;

use hsm::{HsmError, Token};

use crate::db::Pool;
use crate::keys::JwkSet;
use crate::management::{Authorized, ReadReports};
use crate::report_key::{self, ReportKey};
use formats::clock::Timestamp;
use formats::problem::Problem;

pub use self::day::{Day, NotADay};
pub use self::entry::{KeyEntry, Maker, PolicyEntry};
pub use self::filter::{RegisterFilter, RegisterRequest};
pub use self::register::{Checkpoints, LogCheckpoint, Register};
pub use self::signature::{InvalidKeys, NotVerified, ReportKeys, Scope, Verified};

/// A file with its signature.
#[derive(Debug)]
pub struct Report {
    /// The bytes that are signed.
    pub body: Vec<u8>,
    /// How they are written.
    pub format: ReportFormat,
    /// A detached JWS (RFC 7515, appendix F).
    pub signature: String,
}

/// The formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// The key register in JSON.
    Json,
    /// The key register in CSV.
    Csv,
    /// A CycloneDX bill of materials in JSON.
    CycloneDx,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum NotReported {
    /// No key signs.
    #[error("no key signs reports: run `sealward init`")]
    NoKey,
    /// There are no checkpoints.
    #[error("the audit logs have not begun: run `sealward audit init`")]
    NoLogs,
    /// The last changes are not in a checkpoint, or the uses of the day are not counted.
    #[error("the audit logs do not cover the last changes yet")]
    Behind,
    /// A row is not as its last sealed event says, or does not count.
    #[error(
        "a key, a policy or a service is not as its last event in the audit log says: `sealward doctor` names it"
    )]
    Deviating,
    /// The request has this problem.
    #[error("the request has a problem")]
    Invalid(Problem),
    /// The token did not sign.
    #[error(transparent)]
    Token(#[from] HsmError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl ReportFormat {
    /// The media type of the file.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
            Self::CycloneDx => "application/vnd.cyclonedx+json",
        }
    }
}

/// Makes and signs a report.
pub async fn report(
    context: &Authorized<ReadReports>,
    token: &Token,
    request: &RegisterRequest,
    format: ReportFormat,
) -> Result<Report, NotReported> {
    let key = newest_key(&context.pool).await?;
    let register = read::register(context, request).await?;
    let body = match format {
        ReportFormat::Json => register.to_json(),
        ReportFormat::Csv => table::csv(&register),
        ReportFormat::CycloneDx => cbom::json(&register),
    };
    let signature =
        signature::sign(token, &key, (Some(&register), format, context.clock.now()), &body).await?;
    Ok(Report { body, format, signature })
}

/// Signs a report in JSON that another module has made.
pub(crate) async fn sign_json(
    pool: &Pool,
    token: &Token,
    now: Timestamp,
    body: Vec<u8>,
) -> Result<Report, NotReported> {
    let (key, format) = (newest_key(pool).await?, ReportFormat::Json);
    let signature = signature::sign(token, &key, (None, format, now), &body).await?;
    Ok(Report { body, format, signature })
}

/// The key that signs.
async fn newest_key(pool: &Pool) -> Result<ReportKey, NotReported> {
    let mut connection = pool.acquire().await?;
    let key = report_key::newest(pool.rows_on(&mut connection)).await?;
    key.ok_or(NotReported::NoKey)
}

/// The public keys that have signed reports, with their thumbprints as `kid`.
pub async fn public_keys(context: &Authorized<ReadReports>) -> Result<JwkSet, NotReported> {
    let keys = report_key::all(context.pool.rows()).await?;
    Ok(JwkSet::of_reports(keys.iter().filter_map(ReportKey::public)))
}
