//! Buffers that wipe themselves fast.
//!
//! `zeroize` writes single bytes, which takes longer than the encryption of a large payload. These
//! buffers are filled at once and then passed to [`black_box`], so that the compiler does not remove
//! the write.

use std::fmt;
use std::hint::black_box;
use std::mem;
use std::ops::{Deref, DerefMut};

/// A buffer that is wiped when it is dropped. It only grows, so unused capacity never held data.
#[derive(Default)]
pub struct Wiped<B: Buffer>(B);

/// A buffer that can be wiped.
pub trait Buffer: Default {
    /// Its memory.
    fn into_bytes(self) -> Vec<u8>;
}

impl Buffer for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

impl Buffer for String {
    fn into_bytes(self) -> Vec<u8> {
        self.into()
    }
}

impl<B: Buffer> Wiped<B> {
    /// Wraps `buffer`. Memory that it used before it grew is not covered.
    pub fn new(buffer: B) -> Self {
        Self(buffer)
    }
}

impl<B: Buffer> Drop for Wiped<B> {
    fn drop(&mut self) {
        let mut bytes = mem::take(&mut self.0).into_bytes();
        wipe(&mut bytes);
        black_box(bytes.as_mut_slice());
    }
}

fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
}

impl<B: Buffer> Deref for Wiped<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.0
    }
}

impl AsRef<[u8]> for Wiped<Vec<u8>> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<B: Buffer> DerefMut for Wiped<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.0
    }
}

impl<B: Buffer> fmt::Debug for Wiped<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_data_is_wiped_in_place_and_unused_capacity_is_not_written() {
        let mut bytes = Vec::with_capacity(100);
        bytes.extend_from_slice(b"a secret");
        let place = bytes.as_ptr();
        wipe(&mut bytes);
        assert_eq!(bytes, [0; 8]);
        assert_eq!(bytes.as_ptr(), place);
    }

    #[test]
    fn the_value_is_redacted() {
        let secret = Wiped::new("a secret".to_owned());
        assert_eq!(format!("{secret:?}"), "[redacted]");
        assert_eq!(secret.len(), 8);
    }
}
