//! The canary key.

use crate::keys;
use crate::session::{CanaryKey, Session};
use crate::{HsmError, NewKey, Purpose};
use formats::algorithms::Algorithm;

/// Generates the canary key where the token does not hold it.
pub(crate) fn ensure_key(session: &Session) -> Result<(), HsmError> {
    for kind in CanaryKey::ALL {
        if kind.find(session)?.is_some() {
            return Ok(());
        }
    }
    let generate = |kind: CanaryKey| {
        let key = NewKey {
            id: CanaryKey::LABEL.as_bytes().to_vec(),
            label: CanaryKey::LABEL.to_owned(),
            algorithm: match kind {
                CanaryKey::Hmac => Algorithm::HmacSha256,
                CanaryKey::Ecdsa => Algorithm::P256,
            },
            purpose: Purpose::Sign,
        };
        kind.sign(session, keys::generate_internal(session, &key)?)
    };
    let [first, second] = CanaryKey::ALL;
    generate(first).or_else(|error| {
        tracing::info!(?error, "the token does not support the first canary key");
        generate(second).map_err(|last| {
            let detail = format!("it makes no canary key: {error:?}; {last:?}");
            HsmError::new(last.kind(), detail)
        })
    })
}
