//! Sealed files, as `src/formats/envelope/FILE.md` of Sealward specifies them.

mod line;
mod path;
mod segments;
mod stream;
#[cfg(test)]
mod vectors;

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The bytes of plaintext so far.
    pub bytes: u64,
}
