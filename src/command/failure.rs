//! Why a command fails, and its exit code.

use std::io::Write as _;
use std::process::ExitCode;

use hsm::OpenError;
use sealward_client::ErrorKind;
use sealward_kube_kms::{CannotBind, CannotServe};

use super::terminal::in_lines;
use engine::audit::{Login, RetentionError};
use engine::auth::oidc::InvalidAuthorities;
use engine::ledger::forward::CollectorError;
use engine::management::Error;
use engine::ratelimit::BadAddress;
use engine::report_key::NotMade;
use engine::rows::{NotInitialized, NotRenewed, NotSealed};
use engine::seals::NotDerived;
use engine::settings::SecretError;
use engine::{db, settings, telemetry};

/// The exit code after which a supervisor must not restart the service: a setting must change first.
const CONFIGURATION: u8 = 78;

/// Why a command fails. Each message names the setting and the way out.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Settings(#[from] settings::SettingsError),
    #[error(transparent)]
    Telemetry(#[from] telemetry::TelemetryError),
    #[error("{setting}: {source}")]
    Secret { setting: String, source: SecretError },
    #[error(transparent)]
    Database(#[from] db::Error),
    #[error("the login of database.url could change or delete audit records{}", statements(.0))]
    Login(Login),
    #[error("cannot check the login of database.url: {0}")]
    Check(sqlx::Error),
    #[error(transparent)]
    Retention(#[from] RetentionError),
    #[error("cannot read or write the rows: {0}")]
    Rows(sqlx::Error),
    #[error(transparent)]
    NotSealed(#[from] NotSealed),
    #[error(transparent)]
    NotRenewed(#[from] NotRenewed),
    #[error(transparent)]
    RowKey(#[from] NotDerived),
    #[error(transparent)]
    Initialize(#[from] NotInitialized),
    #[error(transparent)]
    ReportKey(#[from] NotMade),
    #[error("{0}")]
    Missing(&'static str),
    #[error(transparent)]
    Token(#[from] OpenError),
    #[error(transparent)]
    Listen(#[from] crate::server::CannotListen),
    #[error(transparent)]
    Tls(#[from] crate::server::BadTls),
    #[error(transparent)]
    Limits(#[from] BadAddress),
    #[error(transparent)]
    Collector(#[from] CollectorError),
    #[error(transparent)]
    Provider(#[from] InvalidAuthorities),
    #[error(transparent)]
    Start(#[from] crate::server::CannotStart),
    #[error(transparent)]
    Client(#[from] sealward_client::Error),
    #[error(transparent)]
    Socket(#[from] CannotBind),
    #[error(transparent)]
    Plugin(#[from] CannotServe),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    #[error("{0}")]
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(problems) => {
                let problems = problems.as_slice().iter();
                let lines = problems.map(|it| format!("{}: {}", it.field, it.message));
                Self::Other(lines.collect::<Vec<_>>().join("\n"))
            }
            other @ (Error::Missing(_)
            | Error::Conflict(_)
            | Error::Outdated
            | Error::NotAllowed(_)
            | Error::BelowFloor(_)
            | Error::Forbidden(_)
            | Error::NotAnApprover(_)
            | Error::Proposed(_)
            | Error::Token(_)
            | Error::Unauthenticated
            | Error::BrokenOff
            | Error::Database(_)) => Self::Other(other.to_string()),
        }
    }
}

impl Failure {
    /// Writes the reason to standard error and returns the exit code.
    pub(super) fn report(&self) -> ExitCode {
        let _ = writeln!(std::io::stderr(), "sealward: {}", in_lines(&self.to_string()));
        match self {
            // A thread hangs inside the PKCS#11 module, whose exit handlers could block too.
            Self::Token(OpenError::Hangs { .. }) => std::process::abort(),
            Self::Token(error) if error.is_pin_refusal() => ExitCode::from(CONFIGURATION),
            Self::Tls(error) if error.may_pass() => ExitCode::FAILURE,
            Self::Database(error) if error.is_permanent() => ExitCode::from(CONFIGURATION),
            Self::Client(error) if is_configuration(error) => ExitCode::from(CONFIGURATION),
            Self::Settings(_)
            | Self::Telemetry(_)
            | Self::Secret { .. }
            | Self::Tls(_)
            | Self::Limits(_)
            | Self::Collector(_)
            | Self::Provider(_)
            | Self::Start(_)
            | Self::Socket(
                CannotBind::TooLong(_) | CannotBind::NotASocket(_) | CannotBind::Exposed(_),
            )
            | Self::Login(_)
            | Self::Missing(_)
            | Self::RowKey(NotDerived::Uninitialized)
            | Self::Retention(RetentionError::NotAMember | RetentionError::TooYoung(_)) => {
                ExitCode::from(CONFIGURATION)
            }
            _ => ExitCode::FAILURE,
        }
    }
}

/// Whether the arguments or the environment must change before a call can succeed.
fn is_configuration(error: &sealward_client::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidConfiguration | ErrorKind::CredentialUnavailable)
}

/// One line for each privilege that the login must not have.
fn statements(login: &Login) -> String {
    let lines = login.excess.iter().map(|excess| format!("\n  {excess}"));
    lines.collect()
}
