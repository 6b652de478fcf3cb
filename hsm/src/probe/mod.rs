//! What a token can do and where it is weak, found by trying with temporary session objects.
//! Mechanism lists are not asked: they promise what does not work and leave out what does.

mod operations;
mod report;
mod speed;
mod weakness;

use cryptoki::slot::{Limit, TokenInfo};

use crate::session::Session;
use crate::{HsmError, OaepHash};

pub use report::{ModuleFacts, ProbeReport, Probed, Speed, TokenFacts, Works};

/// Tries everything this crate does with tokens. Takes as long as making a dozen keys takes.
pub(crate) fn probe(session: &Session) -> Result<ProbeReport, HsmError> {
    let device = session.device();
    let info = device.login.token_info().map_err(|error| error.at_work())?;
    let module = {
        let module = device.login.module();
        let (_inside, context) = module.enter();
        let library = context.get_library_info()?;
        ModuleFacts {
            path: module.path().to_owned(),
            manufacturer: library.manufacturer_id().to_owned(),
            description: library.library_description().to_owned(),
            version: library.library_version().to_string(),
            pkcs11_version: library.cryptoki_version().to_string(),
        }
    };
    let token = TokenFacts {
        label: info.label().to_owned(),
        serial: info.serial_number().to_owned(),
        manufacturer: info.manufacturer_id().to_owned(),
        model: info.model().to_owned(),
        hardware_version: info.hardware_version().to_string(),
        firmware_version: info.firmware_version().to_string(),
        max_sessions: max_sessions(&info),
        // A session of a worker is only ever one that is logged in.
        logged_in: true,
        flags: flags(&info),
    };
    let operations = operations::operations(session)?;
    let imports = operations::imports(session)?;
    let mut weaknesses = weakness::of_token(&info, device.bounds.workers);
    weaknesses.extend(weakness::of_keys(session)?);
    weaknesses.extend(weakness::of_operations(session, &operations, &imports));
    Ok(ProbeReport {
        module,
        token,
        broken: broken(session, &operations, &info),
        operations,
        imports,
        weaknesses,
        speeds: speed::measure(session)?,
    })
}

/// What is configured or made by default and cannot work with this token.
fn broken(session: &Session, operations: &[Probed], info: &TokenInfo) -> Vec<String> {
    let bounds = &session.device().bounds;
    let mut broken = Vec::new();
    let lacks = |operation: &str, algorithm: &str| {
        operations.iter().any(|probed| {
            probed.operation == operation
                && probed.algorithm == algorithm
                && matches!(probed.works, Works::Missing(_))
        })
    };
    if lacks("decrypt", operations::oaep(OaepHash::Sha256)) {
        broken.push(if bounds.allow_raw_rsa {
            "RSA-OAEP-256, the algorithm policies have by default, cannot be opened, not even by raw RSA"
                .to_owned()
        } else {
            "RSA-OAEP-256, the algorithm policies have by default, cannot be opened, so envelope keys of RSA are refused: take keys on a curve (ECDH-ES), or, for development, set hsm.allow_raw_rsa"
                .to_owned()
        });
    }
    if lacks("generate", "RSA-3072") {
        broken.push("RSA-3072 keys, which are made by default, cannot be made".to_owned());
    }
    if let Some(most) = max_sessions(info)
        && most < weakness::sessions_for(bounds.workers)
    {
        let needed = weakness::sessions_for(bounds.workers);
        broken.push(format!(
            "hsm.workers needs {needed} sessions and the token allows {most}: fewer workers run than are configured"
        ));
    }
    broken
}

fn max_sessions(info: &TokenInfo) -> Option<u64> {
    let bound = |limit| match limit {
        Limit::Max(most) => Some(most),
        Limit::Unavailable | Limit::Infinite => None,
    };
    let limits = [
        bound(info.max_session_count()),
        bound(info.max_rw_session_count()),
    ];
    limits.into_iter().flatten().min()
}

fn flags(info: &TokenInfo) -> Vec<&'static str> {
    [
        (info.rng(), "RNG"),
        (info.write_protected(), "WRITE_PROTECTED"),
        (info.login_required(), "LOGIN_REQUIRED"),
        (info.user_pin_initialized(), "USER_PIN_INITIALIZED"),
        (
            info.protected_authentication_path(),
            "PROTECTED_AUTHENTICATION_PATH",
        ),
        (info.token_initialized(), "TOKEN_INITIALIZED"),
        (info.user_pin_count_low(), "USER_PIN_COUNT_LOW"),
        (info.user_pin_final_try(), "USER_PIN_FINAL_TRY"),
        (info.user_pin_locked(), "USER_PIN_LOCKED"),
        (info.user_pin_to_be_changed(), "USER_PIN_TO_BE_CHANGED"),
        (info.so_pin_count_low(), "SO_PIN_COUNT_LOW"),
        (info.so_pin_final_try(), "SO_PIN_FINAL_TRY"),
        (info.so_pin_locked(), "SO_PIN_LOCKED"),
        (info.error_state(), "ERROR_STATE"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .collect()
}
