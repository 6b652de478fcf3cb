//! Why something fails, in one line for a person.

use std::io;
use std::process::ExitCode;

use sealward_client::{Error, ErrorKind};

use crate::recipient::NotEncodable;

/// The exit code of the commands if the arguments or the environment must change.
const CONFIGURATION: u8 = 78;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("set SEALWARD_API_KEY, SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE")]
    NoCredential,
    #[error("{0} must be an absolute path, because age runs plugins in another folder")]
    RelativePath(&'static str),
    #[error("the URL must have at most 255 visible ASCII characters, and no user or password")]
    Url,
    #[error("the policy number must have 1 to 64 letters, digits, dots, underscores and hyphens")]
    PolicyNumber,
    #[error("{0}")]
    Client(#[from] Error),
    #[error(
        "{url}, policy {policy}: SEALWARD_URL is another service, and only it gets the credential"
    )]
    OtherService { url: String, policy: String },
    #[error("{url}, policy {policy}: {error}")]
    Service { url: String, policy: String, error: Error },
    #[error("{url}, policy {policy}: {error}")]
    Policy { url: String, policy: String, error: NotEncodable },
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    #[error("cannot communicate with age: {0}")]
    Age(io::Error),
}

impl Failure {
    /// The message without line breaks and other control characters, which a server could have sent.
    pub(crate) fn line(&self) -> String {
        self.to_string().replace(|letter: char| letter.is_control(), " ")
    }

    /// Whether the next call for the same identity would fail too.
    pub(crate) fn is_lasting(&self) -> bool {
        let kind = match self {
            Self::Service { error, .. } => error.kind(),
            _ => return false,
        };
        matches!(
            kind,
            ErrorKind::ConnectionFailed
                | ErrorKind::DeadlineExceeded
                | ErrorKind::AuthenticationFailed
                | ErrorKind::CredentialUnavailable
                | ErrorKind::Frozen
                | ErrorKind::RateLimited
                | ErrorKind::Unavailable
        )
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        let error = match self {
            Self::NoCredential
            | Self::RelativePath(_)
            | Self::Url
            | Self::PolicyNumber
            | Self::OtherService { .. } => None,
            Self::Client(error) | Self::Service { error, .. } => Some(error.kind()),
            Self::Policy { .. } | Self::Output(_) | Self::Age(_) => return ExitCode::FAILURE,
        };
        match error {
            None | Some(ErrorKind::InvalidConfiguration | ErrorKind::CredentialUnavailable) => {
                ExitCode::from(CONFIGURATION)
            }
            Some(_) => ExitCode::FAILURE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let error = Error::Configuration("a\r\nb\u{1b}[31m".to_owned());
        let failure = Failure::Service { url: "https://x".into(), policy: "P".into(), error };
        assert_eq!(failure.line(), "https://x, policy P: a  b [31m");
    }
}
