//! What the row key authenticates of the audit logs.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use super::RowKey;
use crate::seals::Flaw;

impl RowKey {
    /// The generation that seals, and its MAC of the content of a segment of an audit log.
    pub(crate) fn authenticate_segment(&self, content: &[u8]) -> Vec<u8> {
        let generation = self.sealing.to_be_bytes();
        let mac =
            self.generations.get(&self.sealing).map(|key| segment_mac(key, generation, content));
        let mac = mac.as_ref().map(AsRef::as_ref).unwrap_or_default();
        [&generation, mac].concat()
    }

    /// The name of a read of an audit log, which nobody without the key can compute.
    pub(crate) fn name_of_read(&self, content: &[u8]) -> Option<[u8; 32]> {
        let key = self.generations.get(&self.sealing)?;
        let mut context = hmac::Context::with_key(key);
        // No other message begins with this text.
        context.update(b"read");
        context.update(content);
        context.sign().as_ref().try_into().ok()
    }

    /// Compares the MAC of a segment in constant time.
    pub(crate) fn verify_segment(&self, content: &[u8], mac: &[u8]) -> Result<(), Flaw> {
        let (generation, mac) = mac.split_first_chunk().ok_or(Flaw::Forged)?;
        let key = self.generations.get(&u32::from_be_bytes(*generation));
        let expected = segment_mac(key.ok_or(Flaw::OtherGeneration)?, *generation, content);
        verify_slices_are_equal(expected.as_ref(), mac).map_err(|_| Flaw::Forged)
    }
}

/// The MAC of a segment under a generation. No other message begins with this text.
fn segment_mac(key: &hmac::Key, generation: [u8; 4], content: &[u8]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    context.update(b"segment");
    context.update(&generation);
    context.update(content);
    context.sign()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_read_needs_the_key() {
        let keys = [b"one", b"two"].map(|secret| RowKey::derive([(1, secret.as_slice())]));
        let [one, other] = keys.map(Option::unwrap);
        let read = one.name_of_read(b"content").unwrap();
        assert_eq!(one.name_of_read(b"content"), Some(read));
        assert_ne!(other.name_of_read(b"content"), Some(read));
        assert_ne!(one.name_of_read(b"another"), Some(read));
    }
}
