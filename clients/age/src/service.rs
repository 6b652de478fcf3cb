//! The service of an identity, with the credential in the environment.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use age_core::format::FileKey;
use sealward_client::blocking::Client;
use sealward_client::{Builder, Credential, PolicySummary, Scope};

use crate::failure::Failure;
use crate::identity::{Identity, base};
use crate::recipient::Recipient;
use crate::stanza::{self, Sealed};

/// The time for a request with its repetitions. A person waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The variables with files. age starts plugins in a folder of its own.
const FILES: [&str; 3] = ["SEALWARD_API_KEY_FILE", "SEALWARD_TOKEN_FILE", "SEALWARD_CA_FILE"];

/// Looks the policy of an identity up.
pub(crate) fn recipient(identity: &Identity) -> Result<Recipient, Failure> {
    let found = client(identity)?.policy(&identity.policy);
    let policy: PolicySummary = found.map_err(|error| of_service(identity, error))?;
    let Identity { url, policy: number } = identity.clone();
    Recipient::of(&policy).map_err(|error| Failure::Policy { url, policy: number, error })
}

/// Looks the policy of the identity in a file up.
pub(crate) fn recipient_of_file(identity: &Identity) -> Result<Recipient, Failure> {
    expect_service(identity)?;
    recipient(identity)
}

/// Opens the envelope of a file key; the inner none if it contains something else.
pub(crate) fn open(identity: &Identity, sealed: &Sealed) -> Result<Option<FileKey>, Failure> {
    expect_service(identity)?;
    let scope = Scope::new().policy(&identity.policy);
    let opened = client(identity)?.unprotect(&sealed.envelope, &scope);
    let opened = opened.map_err(|error| of_service(identity, error))?;
    Ok(stanza::file_key(&opened.payload))
}

/// Refuses an identity of another service than that of SEALWARD_URL, to which its author could direct the
/// credential.
fn expect_service(identity: &Identity) -> Result<(), Failure> {
    let Identity { url, policy } = identity.clone();
    match variable("SEALWARD_URL") {
        Some(expected) if expected.to_str().map(base) != Some(&url) => {
            Err(Failure::OtherService { url, policy })
        }
        _ => Ok(()),
    }
}

fn client(identity: &Identity) -> Result<Client, Failure> {
    for name in FILES {
        if variable(name).is_some_and(|path| Path::new(&path).is_relative()) {
            return Err(Failure::RelativePath(name));
        }
    }
    let credential = Credential::from_env()?.ok_or(Failure::NoCredential)?;
    let builder = Builder::new(&identity.url).credential(credential).deadline(PATIENCE);
    let builder = match variable("SEALWARD_CA_FILE") {
        Some(file) => builder.authorities(file),
        None => builder,
    };
    let client = builder.build().and_then(Client::new);
    client.map_err(|error| of_service(identity, error))
}

fn of_service(identity: &Identity, error: sealward_client::Error) -> Failure {
    let Identity { url, policy } = identity.clone();
    Failure::Service { url, policy, error }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
