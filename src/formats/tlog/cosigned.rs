//! The message of a cosignature with ML-DSA-44 (C2SP `tlog-cosignature`).

use super::checkpoint::Checkpoint;

/// The first bytes of the message.
const LABEL: &[u8; 12] = b"subtree/v1\n\0";

/// The message that `cosigner` signs at `time`, in seconds since 1970. None if a name is empty or longer
/// than 255 bytes.
pub fn cosigned_message(cosigner: &str, time: u64, checkpoint: &Checkpoint) -> Option<Vec<u8>> {
    let mut message = LABEL.to_vec();
    message.extend(prefixed(cosigner)?);
    message.extend(time.to_be_bytes());
    message.extend(prefixed(&checkpoint.origin)?);
    // The whole tree, from its first leaf.
    message.extend(0_u64.to_be_bytes());
    message.extend(checkpoint.size.to_be_bytes());
    message.extend(checkpoint.root.as_bytes());
    Some(message)
}

fn prefixed(name: &str) -> Option<Vec<u8>> {
    let length = u8::try_from(name.len()).ok().filter(|length| *length > 0)?;
    Some([&[length], name.as_bytes()].concat())
}
