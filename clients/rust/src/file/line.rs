//! The first line of a sealed file: the envelope of its data key.

use crate::Envelope;
use crate::error::FileError;

/// The most bytes of a line, with its line feed.
pub(super) const LONGEST: u64 = 16_384;

const NAMES: [&str; 5] = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];

/// The line of an envelope.
pub(super) fn write(envelope: &Envelope) -> Result<Vec<u8>, FileError> {
    let line = format!("{envelope}\n").into_bytes();
    // Sealward makes no other envelopes.
    read(&line).map(|_| line)
}

/// The envelope of a line. The line has exactly one form.
pub(super) fn read(line: &[u8]) -> Result<Envelope, FileError> {
    parse(line).ok_or(FileError::Malformed)
}

fn parse(line: &[u8]) -> Option<Envelope> {
    let mut rest = std::str::from_utf8(line).ok()?;
    let mut members = NAMES.map(|_| String::new());
    for (position, (name, member)) in NAMES.iter().zip(&mut members).enumerate() {
        rest = rest.strip_prefix(if position == 0 { "{" } else { "," })?;
        rest = rest.strip_prefix('"')?.strip_prefix(name)?.strip_prefix("\":\"")?;
        let (value, after) = rest.split_once('"')?;
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if value.is_empty() || !value.bytes().all(is_base64url) {
            return None;
        }
        value.clone_into(member);
        rest = after;
    }
    (rest == "}\n").then(|| Envelope::of(members))
}
