//! The client of the runtime API that commands use, and their input and output.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sealward_client::{Builder, Client, Context, Credential, CredentialError, Scope};
use zeroize::Zeroizing;

use super::Failure;
use super::key::invalid;

/// The address of the service and the credential.
#[derive(Debug, clap::Args)]
pub(super) struct ServiceAccess {
    /// The base URL of the service, for example `https://sealward.example.com`.
    #[arg(long, env = "SEALWARD_URL")]
    url: String,
    /// The API key: the content of this file. Default: the value of SEALWARD_API_KEY.
    #[arg(long, env = "SEALWARD_API_KEY_FILE", value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// The token of a workload, instead of an API key: the content of this file.
    #[arg(long, env = "SEALWARD_TOKEN_FILE", value_name = "FILE", conflicts_with = "api_key_file")]
    token_file: Option<PathBuf>,
    /// PEM file with the trusted CA certificates, instead of those of the system.
    #[arg(long, env = "SEALWARD_CA_FILE", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// PEM file with a client certificate.
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    certificate: Option<PathBuf>,
    /// PEM file with the private key of the client certificate.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    certificate_key: Option<PathBuf>,
}

impl ServiceAccess {
    pub(super) fn client(&self) -> Result<Client, Failure> {
        let credential = match self.credential_file() {
            Some(file) => Some(Credential::file(file)),
            None => Credential::from_env()?,
        };
        if credential.is_none() && self.certificate.is_none() {
            return Err(Failure::Missing("set --api-key-file or SEALWARD_API_KEY"));
        }
        self.client_with(credential)
    }

    /// The same for a process that runs on: its credential is a file, which it reads again when it changes.
    pub(super) fn client_of_files(&self) -> Result<Client, Failure> {
        let Some(path) = self.credential_file() else {
            return Err(Failure::Missing("set --api-key-file or --token-file"));
        };
        // Better now than in the log of a process that seems to run.
        std::fs::File::open(path).map_err(|source| {
            let path = path.clone();
            sealward_client::Error::from(CredentialError::File { path, source })
        })?;
        self.client_with(Some(Credential::file(path)))
    }

    fn credential_file(&self) -> Option<&PathBuf> {
        self.api_key_file.as_ref().or(self.token_file.as_ref())
    }

    fn client_with(&self, credential: Option<Credential>) -> Result<Client, Failure> {
        let mut builder = Builder::new(&self.url);
        if let Some(credential) = credential {
            builder = builder.credential(credential);
        }
        if let Some(file) = &self.ca {
            builder = builder.authorities(file);
        }
        if let (Some(chain), Some(key)) = (&self.certificate, &self.certificate_key) {
            builder = builder.certificate(chain, key);
        }
        Ok(builder.build()?)
    }
}

/// The policy and the context of envelopes.
#[derive(Debug, clap::Args)]
pub(super) struct ScopeArguments {
    /// The number of the policy. Default: the policy of the credential.
    #[arg(long, value_name = "NUMBER")]
    policy: Option<String>,
    /// A member of the context, for example tenant=acme. Repeat it for each member.
    #[arg(long, value_name = "NAME=VALUE", value_parser = member)]
    context: Vec<(String, String)>,
}

impl ScopeArguments {
    pub(super) fn scope(&self) -> Scope {
        let scope = match &self.policy {
            Some(number) => Scope::new().policy(number),
            None => Scope::new(),
        };
        match context(&self.context) {
            Some(context) => scope.context(context),
            None => scope,
        }
    }
}

/// The context with these members; none without members.
pub(super) fn context(members: &[(String, String)]) -> Option<Context> {
    (!members.is_empty()).then(|| members.iter().cloned().collect())
}

/// A member of a context: its name, an equals sign and its value.
pub(super) fn member(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The content of a file, or of standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut content = Zeroizing::new(Vec::new());
    let read = match path == Path::new("-") {
        true => io::stdin().read_to_end(&mut content),
        false => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut content)),
    };
    read.map_err(|error| invalid(path, error))?;
    Ok(content)
}

/// The same as text.
pub(super) fn read_text(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let content = read(path)?;
    let text = str::from_utf8(&content).map_err(|_| invalid(path, "must be text in UTF-8"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Writes to standard output.
pub(super) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
