//! What authenticates the calls of a client.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Bytes;
use hyper::header::HeaderValue;
use zeroize::Zeroizing;

use crate::Secret;
use crate::error::{CredentialError, Error};

type Provide = dyn Fn() -> Result<Secret, Box<dyn std::error::Error + Send + Sync>> + Send + Sync;

/// What authenticates the calls of a client. It is asked before each request.
#[derive(Clone)]
pub struct Credential(Source);

#[derive(Clone)]
enum Source {
    Missing,
    Nothing,
    /// The header of an API key; none if the key is malformed.
    Fixed(Option<HeaderValue>),
    File(Arc<CredentialFile>),
    Provider(Arc<Provide>),
}

impl Credential {
    /// An API key.
    pub fn api_key(key: impl Into<Secret>) -> Self {
        Self(Source::Fixed(bearer(&key.into()).ok()))
    }

    /// A file with an API key or a token of a workload. It is read again when it changes.
    ///
    /// White space around the content does not count.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(Arc::new(CredentialFile { path: path.into(), read: Mutex::default() })))
    }

    /// A function that returns an API key or a token before each request. It should not block.
    pub fn provider<F, E>(provide: F) -> Self
    where
        F: Fn() -> Result<Secret, E> + Send + Sync + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self(Source::Provider(Arc::new(move || provide().map_err(Into::into))))
    }

    /// No credential. Only public calls are possible.
    pub(crate) fn missing() -> Self {
        Self(Source::Missing)
    }

    /// No header. The client certificate authenticates the calls.
    pub fn certificate_only() -> Self {
        Self(Source::Nothing)
    }

    /// The one of `SEALWARD_API_KEY`, `SEALWARD_API_KEY_FILE` and `SEALWARD_TOKEN_FILE` that is set in the
    /// environment, if one is.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    pub(crate) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Error> {
        let mut given = [
            variable("SEALWARD_API_KEY").map(Self::api_key),
            variable("SEALWARD_API_KEY_FILE").map(Self::file),
            variable("SEALWARD_TOKEN_FILE").map(Self::file),
        ]
        .into_iter()
        .flatten();
        let credential = given.next();
        match given.next() {
            Some(_) => Err(Error::Configuration(
                "only one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE can be set"
                    .to_owned(),
            )),
            None => Ok(credential),
        }
    }

    /// The value of the header `Authorization`.
    pub(crate) fn authorization(&self) -> Result<Option<HeaderValue>, Error> {
        let secret = match &self.0 {
            Source::Missing => return Err(CredentialError::Missing.into()),
            Source::Nothing => return Ok(None),
            Source::Fixed(header) => {
                return Ok(Some(header.clone().ok_or(CredentialError::Malformed)?));
            }
            Source::File(file) => file.current()?,
            Source::Provider(provide) => provide().map_err(CredentialError::Provider)?,
        };
        Ok(Some(bearer(&secret)?))
    }
}

/// The header of a credential. It is wiped when the last clone is dropped.
fn bearer(secret: &Secret) -> Result<HeaderValue, CredentialError> {
    let token = secret.expose().trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(CredentialError::Malformed);
    }
    let text = Bytes::from_owner(Zeroizing::new(format!("Bearer {token}").into_bytes()));
    let value = HeaderValue::from_maybe_shared(text);
    let mut value = value.map_err(|_| CredentialError::Malformed)?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Missing | Source::Nothing => formatter.write_str("Credential(none)"),
            Source::Fixed(_) => formatter.write_str("Credential([redacted])"),
            Source::File(file) => write!(formatter, "Credential({})", file.path.display()),
            Source::Provider(_) => formatter.write_str("Credential(provider)"),
        }
    }
}

struct CredentialFile {
    path: PathBuf,
    read: Mutex<Option<(Version, Secret)>>,
}

/// What changes when a file is replaced or written again.
#[derive(PartialEq)]
struct Version {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl CredentialFile {
    fn current(&self) -> Result<Secret, CredentialError> {
        let unreadable = |source| CredentialError::File { path: self.path.clone(), source };
        let found = fs::metadata(&self.path).map_err(unreadable)?;
        let version = Version {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, secret)) = &*read
            && *known == version
        {
            return Ok(secret.clone());
        }
        let secret = Secret::new(fs::read_to_string(&self.path).map_err(unreadable)?);
        *read = Some((version, secret.clone()));
        Ok(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_does_not_show_its_secret() {
        let credential = Credential::api_key("sk_live_secret".to_owned());
        assert_eq!(format!("{credential:?}"), "Credential([redacted])");
        let header = credential.authorization().unwrap().unwrap();
        assert_eq!(header, "Bearer sk_live_secret");
        assert!(!format!("{header:?}").contains("secret"));
    }

    #[test]
    fn what_is_no_header_value_is_refused() {
        for text in ["", " \n", "a b", "a\r\nX-Injected: 1", "schl\u{fc}ssel"] {
            let refused = Credential::api_key(text.to_owned()).authorization();
            assert!(
                matches!(refused, Err(Error::Credential(CredentialError::Malformed))),
                "{text}"
            );
        }
    }
}
