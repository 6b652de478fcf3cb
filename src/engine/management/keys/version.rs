//! The version of a new key, and the name that it is a version of.

use super::store;
use crate::ids::ServiceId;
use crate::keys::{Key, KeyVersion, Usage};
use crate::management::{Change, Error};
use formats::material::Algorithm;
use formats::problem::{Code, Problem};

/// Checks that a new key of a service can have this name, and the version that the request states.
pub(super) async fn check(
    change: &mut Change<'_>,
    named: (ServiceId, &str),
    kind: (Usage, Algorithm),
    stated: Option<KeyVersion>,
) -> Result<(), Error> {
    check_kind(change, named, kind, stated).await?;
    match stated {
        Some(version) if !store::is_new_version(change.connection(), named, version).await? => {
            Err(not_new(version))
        }
        Some(_) | None => Ok(()),
    }
}

/// Gives a new key its version: the stated one, or else the next one of its name. The service is already
/// locked.
pub(super) async fn give(
    change: &mut Change<'_>,
    key: &mut Key,
    stated: Option<KeyVersion>,
) -> Result<(), Error> {
    let kind = (key.usage, key.algorithm);
    check_kind(change, (key.service_id, &*key.name), kind, stated).await?;
    if key.usage == Usage::Enc {
        return Ok(());
    }
    let given = match stated {
        None => store::next_version(change.connection(), key).await?,
        Some(version) if store::take_version(change.connection(), key, version).await? => version,
        Some(version) => return Err(not_new(version)),
    };
    key.version = Some(given);
    Ok(())
}

/// The keys of a name differ in their versions only.
async fn check_kind(
    change: &mut Change<'_>,
    named: (ServiceId, &str),
    kind: (Usage, Algorithm),
    stated: Option<KeyVersion>,
) -> Result<(), Error> {
    if kind.0 == Usage::Enc {
        return match stated {
            None => Ok(()),
            Some(_) => {
                let message = "is only supported for keys for signatures or data";
                Err(Problem::new("version", Code::Unsupported, message).into())
            }
        };
    }
    if store::is_name_of_another_kind(change.connection(), named, kind).await? {
        let message = "a key with this name has another use or algorithm: choose another name";
        return Err(Error::Conflict(message.to_owned()));
    }
    Ok(())
}

fn not_new(version: KeyVersion) -> Error {
    Error::Conflict(format!("the name already had the version {version} or a higher one"))
}
