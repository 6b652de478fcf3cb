//! `sealward report verify`: verifies a report with public keys that the auditor has kept.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::signature_of;
use engine::reports::{InvalidKeys, NotVerified, ReportKeys, Scope, Verified};

/// The exit code for a report that is not the one that was signed.
const CHANGED: u8 = 1;

/// The exit code for a check that was not possible.
const NOT_CHECKED: u8 = 2;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The report.
    report: PathBuf,
    /// The signature. Default: the file with the name of the report and .jws appended.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The public keys: a JWK Set, a JWK, or a public key in PEM.
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
}

/// Why a report is not verified.
#[derive(Debug, thiserror::Error)]
enum VerifyError {
    #[error("{path}: {source}")]
    File { path: String, source: io::Error },
    #[error("{path}: {source}")]
    Keys { path: String, source: InvalidKeys },
    #[error("{path}: {source}")]
    Signature { path: String, source: NotVerified },
}

/// Verifies, prints the result and returns the exit code.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match verify(arguments) {
        Ok(Verified { thumbprint, signed_at, register }) => {
            let contains = register.as_ref().map_or_else(String::new, contains);
            let _ = writeln!(
                io::stdout(),
                "OK: the report is unchanged; the key {thumbprint} signed it at {signed_at}{contains}"
            );
            ExitCode::SUCCESS
        }
        Err(refused) => {
            let _ = writeln!(io::stderr(), "sealward: {refused}");
            ExitCode::from(match refused {
                VerifyError::Signature { .. } => CHANGED,
                VerifyError::File { .. } | VerifyError::Keys { .. } => NOT_CHECKED,
            })
        }
    }
}

fn contains(Scope { at, filter }: &Scope) -> String {
    let keys = match filter.as_str() {
        "" => "all keys".to_owned(),
        filter => format!("the keys with {filter}"),
    };
    format!("; it contains {keys}, with their uses until {at}")
}

fn verify(arguments: &Arguments) -> Result<Verified, VerifyError> {
    let Arguments { report, signature, keys } = arguments;
    let beside = signature.clone().unwrap_or_else(|| signature_of(report));
    let trusted = ReportKeys::parse(&text(keys)?)
        .map_err(|source| VerifyError::Keys { path: keys.display().to_string(), source })?;
    let body = fs::read(report).map_err(|source| unreadable(report, source))?;
    trusted
        .verify(&body, &text(&beside)?)
        .map_err(|source| VerifyError::Signature { path: report.display().to_string(), source })
}

fn text(path: &Path) -> Result<String, VerifyError> {
    fs::read_to_string(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> VerifyError {
    VerifyError::File { path: path.display().to_string(), source }
}
