//! The question of an envelope to its private key in the token.

use hsm::{ErrorKind, HsmError, KeyRef, Token};
use zeroize::Zeroizing;

use formats::envelope::{Opening, Question};

/// Asks the private key. A refusal is an answer; an unavailable key has no answer.
pub(super) async fn ask(
    token: &Token,
    private: &KeyRef,
    opening: &Opening,
) -> Result<Option<Zeroizing<Vec<u8>>>, HsmError> {
    let answer = match opening.question() {
        Question::Decrypt { hash, wrapped_key } => {
            token.decrypt_oaep(private, hash, wrapped_key).await
        }
        Question::Agree { peer } => token.derive_ecdh(private, peer).await,
        Question::Decapsulate { kem, ciphertext } => {
            token.decapsulate(private, kem, ciphertext).await
        }
    };
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) => match error.kind() {
            ErrorKind::BadInput | ErrorKind::Refused => Ok(None),
            ErrorKind::KeyMissing
            | ErrorKind::TokenOut
            | ErrorKind::Busy
            | ErrorKind::Late
            | ErrorKind::Unusable => Err(error),
        },
    }
}
