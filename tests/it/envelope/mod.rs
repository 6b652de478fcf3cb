//! The envelope room alone: no HTTP, no token; a private key in memory answers for the token.

mod forms;
mod private_key;
mod round_trip;
mod tampering;

pub(crate) use private_key::PrivateKey;

use sealward::clock::Entropy;
use sealward::envelope::{Alg, Enc, Envelope, Recipient, seal};
use sealward::json::Text;

/// Seals for `key`, as `/protect` does.
pub(crate) fn sealed(key: &PrivateKey, alg: Alg, enc: Enc, plaintext: &str) -> String {
    let recipient = Recipient {
        key: key.public(),
        kid: "key_01h455vb4pex5vsknk084sn02q",
        alg,
        enc,
    };
    let mut out = String::new();
    seal(
        &Entropy::system(),
        recipient,
        plaintext.as_bytes(),
        &mut out,
    )
    .unwrap();
    out
}

/// Reads the object with the five members, which must be well-formed.
pub(crate) fn read(object: &str) -> Envelope {
    Envelope::parse(Text::parse(object.as_bytes()).unwrap()).unwrap()
}
