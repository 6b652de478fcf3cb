//! What the row key authenticates of the jobs that one instance at a time runs.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use super::RowKey;
use formats::clock::Timestamp;

impl RowKey {
    /// The generation that seals, and its MAC of the mark that an instance has a job at this time. Without the key,
    /// nobody can make the MAC for another time.
    pub fn authenticate_mark(&self, job: &str, at: Timestamp) -> Vec<u8> {
        let generation = self.sealing.to_be_bytes();
        let mac = self.generations.get(&self.sealing).map(|key| mark_mac(key, generation, job, at));
        let mac = mac.as_ref().map(AsRef::as_ref).unwrap_or_default();
        [&generation, mac].concat()
    }

    /// Whether an instance made the mark, in constant time.
    pub(crate) fn is_mark(&self, job: &str, at: Timestamp, mac: &[u8]) -> bool {
        let verified = mac.split_first_chunk().and_then(|(generation, mac)| {
            let key = self.generations.get(&u32::from_be_bytes(*generation))?;
            let expected = mark_mac(key, *generation, job, at);
            verify_slices_are_equal(expected.as_ref(), mac).ok()
        });
        verified.is_some()
    }
}

/// The MAC of the mark of a job under a generation. No other message begins with this text.
fn mark_mac(key: &hmac::Key, generation: [u8; 4], job: &str, at: Timestamp) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    context.update(b"mark");
    context.update(&generation);
    context.update(&at.as_millis().to_be_bytes());
    context.update(job.as_bytes());
    context.sign()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_that_of_one_job_at_one_time() {
        let keys = [b"one", b"two"].map(|secret| RowKey::derive([(1, secret.as_slice())]));
        let [one, other] = keys.map(Option::unwrap);
        let at = Timestamp::from_millis(1_900_000_000_000);
        let mac = one.authenticate_mark("sealer", at);
        assert!(one.is_mark("sealer", at, &mac));
        assert!(!other.is_mark("sealer", at, &mac));
        assert!(!one.is_mark("forwarder", at, &mac));
        assert!(!one.is_mark("sealer", Timestamp::from_millis(1_900_000_000_001), &mac));
        assert!(!one.is_mark("sealer", at, &[]));
    }
}
