//! The sources of secrets. Settings name a source; only in development they may contain the secret.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use super::load::Environment;

/// The source of a secret.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(inline)]
pub enum SecretSource {
    /// A file that contains the secret. A trailing newline is ignored.
    File(PathBuf),
    /// The name of a systemd credential of this unit.
    Credential(String),
    /// A program and its arguments. Its output is the secret.
    Command(Vec<String>),
    /// The secret itself. Accepted in development only.
    Value(#[schemars(with = "String")] PlainSecret),
}

/// A secret written into the settings themselves.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct PlainSecret(SecretString);

impl Serialize for PlainSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("[redacted]")
    }
}

/// The secret cannot be read from its source.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    File {
        /// The path of the secret.
        path: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// systemd gave this process no credentials.
    #[error("the credential {0:?} does not exist: does the unit load it with LoadCredential=?")]
    Credential(String),
    /// The program cannot be run, or failed.
    #[error("the command {program:?} failed: {reason}")]
    Command {
        /// The name of the program.
        program: String,
        /// How it failed.
        reason: String,
    },
    /// The source is empty.
    #[error("the secret is empty")]
    Empty,
}

impl SecretSource {
    /// Fetches the secret.
    pub fn reveal(&self, environment: &Environment) -> Result<SecretString, SecretError> {
        let text = match self {
            Self::File(path) => read(path)?,
            Self::Credential(name) => {
                let folder = environment
                    .credentials()
                    .ok_or_else(|| SecretError::Credential(name.clone()))?;
                read(&folder.join(name))?
            }
            Self::Command(words) => printed_by(words)?,
            Self::Value(PlainSecret(secret)) => Zeroizing::new(secret.expose_secret().to_owned()),
        };
        let secret = text.strip_suffix('\n').unwrap_or(&text);
        let secret = secret.strip_suffix('\r').unwrap_or(secret);
        if secret.is_empty() {
            return Err(SecretError::Empty);
        }
        Ok(SecretString::from(secret))
    }

    /// Whether the settings contain the secret itself.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Value(_))
    }
}

fn read(path: &std::path::Path) -> Result<Zeroizing<String>, SecretError> {
    fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|source| SecretError::File { path: path.to_owned(), source })
}

fn printed_by(words: &[String]) -> Result<Zeroizing<String>, SecretError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(SecretError::Command {
            program: String::new(),
            reason: "the list is empty".into(),
        });
    };
    let failed = |reason: String| SecretError::Command { program: program.clone(), reason };
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let printed = Zeroizing::new(output.stdout);
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    let text =
        std::str::from_utf8(&printed).map_err(|_| failed("its output must be UTF-8".into()))?;
    Ok(Zeroizing::new(text.to_owned()))
}
