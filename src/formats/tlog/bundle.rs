//! Bundles of entries: each entry after its length in two bytes, big-endian (C2SP `tlog-tiles`).

/// The bytes are not a bundle of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bundle of entries ends within an entry")]
pub struct InvalidBundle;

/// Adds an entry at the end of a bundle. Returns whether it has at most 65,535 bytes; a longer entry
/// is not added.
pub fn append_entry(bundle: &mut Vec<u8>, entry: &[u8]) -> bool {
    let Ok(length) = u16::try_from(entry.len()) else {
        return false;
    };
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(entry);
    true
}

pub fn entries_of_bundle(mut bundle: &[u8]) -> Result<Vec<&[u8]>, InvalidBundle> {
    let mut entries = Vec::new();
    while !bundle.is_empty() {
        let (length, rest) = bundle.split_first_chunk().ok_or(InvalidBundle)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (entry, rest) = rest.split_at_checked(length).ok_or(InvalidBundle)?;
        entries.push(entry);
        bundle = rest;
    }
    Ok(entries)
}
