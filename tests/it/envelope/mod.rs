//! Tests of `envelope` without HTTP and token. A private key in memory replaces the token.

mod forms;
mod round_trip;
mod tampering;

use formats::clock::Entropy;
use formats::envelope::{Alg, Context, Enc, Envelope, HeaderMembers, Recipient, seal};
use formats::json::Text;
use testkit::PrivateKey;

/// Seals for `key` like `/protect`.
pub(crate) fn sealed(key: &PrivateKey, alg: Alg, enc: Enc, plaintext: &str) -> String {
    sealed_in(key, alg, enc, plaintext, None, None)
}

/// Seals for `key` under a policy and with a context.
fn sealed_in(
    key: &PrivateKey,
    alg: Alg,
    enc: Enc,
    plaintext: &str,
    policy: Option<&str>,
    context: Option<&Context>,
) -> String {
    let recipient = Recipient {
        key: key.public(),
        kid: "key_01h455vb4pex5vsknk084sn02q",
        alg,
        enc,
        policy,
        context,
        members: HeaderMembers::default(),
    };
    let mut out = String::new();
    seal(&Entropy::system(), recipient, plaintext.as_bytes(), &mut out).unwrap();
    out
}

/// Parses a well-formed object with the five members.
pub(crate) fn read(object: &str) -> Envelope {
    Envelope::parse(Text::parse(object.as_bytes()).unwrap()).unwrap()
}
