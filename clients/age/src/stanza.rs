//! Stanzas: `-> sealward POLICY KEY`, with the envelope of the file key as its body.
//!
//! The arguments let a person see which policy and which key a file needs. The envelope is compact JSON, and its
//! payload is the file key as standard base64.

use age_core::format::{FILE_KEY_BYTES, FileKey, Stanza};
use age_core::secrecy::ExposeSecret as _;
use sealward_client::{Envelope, LocalError, Payload};

use crate::NAME;
use crate::fields::is_policy_number;
use crate::recipient::Recipient;

/// A file key in its envelope.
#[derive(Debug, PartialEq)]
pub(crate) struct Sealed {
    pub(crate) policy: String,
    pub(crate) envelope: Envelope,
}

/// What a stanza is to this plugin.
#[derive(Debug, PartialEq)]
pub(crate) enum Read {
    /// A stanza of another plugin or of age.
    Foreign,
    /// A stanza with this name and another form.
    Malformed,
    Sealed(Sealed),
}

/// Seals a file key for a recipient.
pub(crate) fn seal(recipient: &Recipient, file_key: &FileKey) -> Result<Stanza, LocalError> {
    let envelope = recipient.key.seal(&Payload::bytes(file_key.expose_secret()))?;
    Ok(Stanza {
        tag: NAME.to_owned(),
        args: vec![recipient.policy.clone(), recipient.key.key.kid.clone()],
        body: envelope.to_string().into_bytes(),
    })
}

/// Reads a stanza.
pub(crate) fn read(stanza: &Stanza) -> Read {
    if stanza.tag != NAME {
        return Read::Foreign;
    }
    sealed(stanza).map_or(Read::Malformed, Read::Sealed)
}

fn sealed(stanza: &Stanza) -> Option<Sealed> {
    let [policy, _key] = stanza.args.as_slice() else {
        return None;
    };
    let text = str::from_utf8(&stanza.body).ok()?;
    let envelope: Envelope = text.parse().ok()?;
    let is_exact = is_policy_number(policy) && envelope.to_string() == text;
    is_exact.then(|| Sealed { policy: policy.clone(), envelope })
}

/// The file key in an opened payload; none if it is something else.
pub(crate) fn file_key(payload: &Payload) -> Option<FileKey> {
    let bytes = payload.to_bytes().ok()?;
    let whole = bytes.len() == FILE_KEY_BYTES;
    whole.then(|| FileKey::init_with_mut(|key| key.copy_from_slice(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: &str =
        r#"{"protected":"eyJ9","encrypted_key":"AA","iv":"AQ","ciphertext":"Ag","tag":"Aw"}"#;

    fn stanza(tag: &str, args: &[&str], body: &str) -> Stanza {
        let args = args.iter().map(|it| (*it).to_owned()).collect();
        Stanza { tag: tag.to_owned(), args, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_stanza_names_policy_and_key() {
        let expected = Sealed { policy: "P".to_owned(), envelope: ENVELOPE.parse().unwrap() };
        assert_eq!(read(&stanza("sealward", &["P", "key_1"], ENVELOPE)), Read::Sealed(expected));
    }

    #[test]
    fn stanzas_of_others_are_ignored() {
        for tag in ["X25519", "sealward2", "Sealward", ""] {
            assert_eq!(read(&stanza(tag, &["P", "key_1"], ENVELOPE)), Read::Foreign, "{tag}");
        }
    }

    #[test]
    fn other_forms_are_malformed() {
        let spaced = ENVELOPE.replace(':', ": ");
        let cases: [(&[&str], &str); 6] = [
            (&[], ENVELOPE),
            (&["P"], ENVELOPE),
            (&["P", "key_1", "x"], ENVELOPE),
            (&["P/1", "key_1"], ENVELOPE),
            (&["P", "key_1"], "{}"),
            (&["P", "key_1"], &spaced),
        ];
        for (args, body) in cases {
            assert_eq!(read(&stanza("sealward", args, body)), Read::Malformed, "{args:?} {body}");
        }
    }

    #[test]
    fn only_a_payload_of_16_bytes_is_a_file_key() {
        let key = file_key(&Payload::bytes(&[7; 16])).unwrap();
        assert_eq!(key.expose_secret(), &[7; 16]);
        for payload in [Payload::bytes(&[7; 15]), Payload::bytes(&[]), Payload::raw("{}").unwrap()]
        {
            assert!(file_key(&payload).is_none());
        }
    }
}
