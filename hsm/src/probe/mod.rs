//! The probe: tests the support and the weaknesses of a token with temporary keys, made as the service makes its keys.
//! Mechanism lists are not used, because they are unreliable in both directions.

#![deny(clippy::wildcard_enum_match_arm)]

mod operations;
mod report;
mod speed;
mod weakness;

use crate::HsmError;
use crate::session::{ConnectError, Session};
use formats::algorithms::OaepHash;

pub use report::{ModuleFacts, ProbeReport, Probed, Speed, TokenFacts, Works};

/// Tries every operation of this crate. Takes as long as generating a dozen keys.
pub(crate) fn probe(session: &Session) -> Result<ProbeReport, HsmError> {
    let connection = session.connection();
    let info = connection.login.token_info();
    let info = info.map_err(ConnectError::at_work)?;
    let module = {
        let module = connection.login.module();
        let (_inside, library) = module.enter();
        let library = library.info()?;
        ModuleFacts {
            path: module.path().to_owned(),
            manufacturer: library.manufacturer,
            description: library.description,
            version: library.version,
            pkcs11_version: library.pkcs11_version,
        }
    };
    let token = TokenFacts {
        label: info.label.clone(),
        serial: info.serial.clone(),
        manufacturer: info.manufacturer.clone(),
        model: info.model.clone(),
        hardware_version: info.hardware_version.clone(),
        firmware_version: info.firmware_version.clone(),
        max_sessions: info.max_sessions,
        // The sessions of workers are always logged in.
        logged_in: true,
        flags: info.flags(),
    };
    let operations = operations::operations(session);
    let imports = operations::imports(session);
    let mut weaknesses = weakness::of_token(&info, connection.limits.workers);
    weaknesses.extend(weakness::of_keys(session));
    weaknesses.extend(weakness::of_operations(session, &operations, &imports));
    Ok(ProbeReport {
        module,
        token,
        broken: broken(session, &operations),
        operations,
        imports,
        weaknesses,
        speeds: speed::measure(session),
    })
}

/// Settings and defaults that do not work with this token.
fn broken(session: &Session, operations: &[Probed]) -> Vec<String> {
    let limits = &session.connection().limits;
    let mut broken = Vec::new();
    let lacks = |operation: &str, algorithm: &str| {
        operations.iter().any(|probed| {
            probed.operation == operation
                && probed.algorithm == algorithm
                && matches!(probed.works, Works::Missing(_))
        })
    };
    if lacks("decrypt", OaepHash::Sha256.name()) {
        broken.push(if limits.allow_raw_rsa {
            "RSA-OAEP-256, the default algorithm of policies, does not work, not even by raw RSA"
                .to_owned()
        } else {
            "RSA-OAEP-256, the default algorithm of policies, does not work, so RSA envelope keys are refused: use keys on a curve (ECDH-ES) or, for development, set hsm.allow_raw_rsa"
                .to_owned()
        });
    }
    if lacks("generate", "RSA-3072") {
        broken.push("RSA-3072 keys, the default, cannot be generated".to_owned());
    }
    let needed = weakness::sessions_for(limits.workers);
    let given = sessions(session, needed);
    if given < needed {
        broken.push(format!(
            "hsm.workers needs {needed} sessions and the token gives {given}: fewer workers run than are configured"
        ));
    }
    broken
}

/// How many sessions the token gives this process, up to `needed`. What tokens report is not always true.
fn sessions(session: &Session, needed: u64) -> u64 {
    let connection = session.connection();
    // The anchor is not counted.
    let open = || u64::try_from(connection.sessions()).unwrap_or(u64::MAX).saturating_add(1);
    let mut more = Vec::new();
    while open() < needed {
        match Session::open(connection) {
            Ok(session) => more.push(session),
            Err(error) => {
                tracing::debug!(?error, "the token gives no further session");
                break;
            }
        }
    }
    open()
}
