//! The segments of a sealed file, without input and output.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, MAX_TAG_LEN, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::error::{Error, FileError, LocalError};

/// The bytes of a complete segment, and of the header with the first one.
pub(super) const SEGMENT: usize = 1 << 20;
/// The bytes of the header.
pub(super) const HEADER: usize = 40;
/// The bytes of a tag.
pub(super) const TAG: usize = MAX_TAG_LEN;
const KEY: usize = 32;

/// The random values of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) salt: [u8; 32],
    pub(super) nonce_prefix: [u8; 7],
}

impl Header {
    pub(super) fn random() -> Result<Self, Error> {
        let mut header = Self { salt: [0; 32], nonce_prefix: [0; 7] };
        rand::fill(&mut header.salt).map_err(LocalError::from)?;
        rand::fill(&mut header.nonce_prefix).map_err(LocalError::from)?;
        Ok(header)
    }

    pub(super) fn write(&self) -> Vec<u8> {
        [&[HEADER_BYTE], self.salt.as_slice(), &self.nonce_prefix].concat()
    }

    pub(super) fn read(bytes: [u8; HEADER]) -> Result<Self, FileError> {
        let [HEADER_BYTE, rest @ ..] = bytes else {
            return Err(FileError::Malformed);
        };
        let (salt, nonce_prefix) = rest.split_at(32);
        match (salt.try_into(), nonce_prefix.try_into()) {
            (Ok(salt), Ok(nonce_prefix)) => Ok(Self { salt, nonce_prefix }),
            _ => Err(FileError::Malformed),
        }
    }
}

const HEADER_BYTE: u8 = 40;

/// Encrypts or decrypts the segments of one file, one after another.
pub(super) struct Segments {
    cipher: LessSafeKey,
    nonce_prefix: [u8; 7],
    index: Option<u32>,
}

impl Segments {
    /// With the data key of the file that has this line and this header.
    pub(super) fn new(data_key: &[u8], line: &[u8], header: &Header) -> Result<Self, Error> {
        if data_key.len() != KEY {
            return Err(FileError::Malformed.into());
        }
        let associated = digest(&SHA256, line);
        let mut key = Zeroizing::new([0; KEY]);
        let derived = Salt::new(HKDF_SHA256, &header.salt).extract(data_key);
        let info = [associated.as_ref()];
        let filled = derived.expand(&info, KeyLength).and_then(|okm| okm.fill(key.as_mut_slice()));
        filled.map_err(LocalError::from)?;
        let key = UnboundKey::new(&AES_256_GCM, key.as_slice()).map_err(LocalError::from)?;
        let cipher = LessSafeKey::new(key);
        Ok(Self { cipher, nonce_prefix: header.nonce_prefix, index: Some(0) })
    }

    /// The most bytes of plaintext in the next segment.
    pub(super) fn room(&self) -> usize {
        match self.index {
            Some(0) => SEGMENT - HEADER - TAG,
            _ => SEGMENT - TAG,
        }
    }

    /// Encrypts the next segment, and adds the tag.
    pub(super) fn seal(&mut self, segment: &mut Vec<u8>, is_last: bool) -> Result<(), Error> {
        let nonce = self.next_nonce(is_last)?;
        let sealed = self.cipher.seal_in_place_append_tag(nonce, Aad::empty(), segment);
        Ok(sealed.map_err(LocalError::from)?)
    }

    /// Decrypts the next segment, and removes the tag.
    pub(super) fn open(&mut self, segment: &mut Vec<u8>, is_last: bool) -> Result<(), Error> {
        let is_first = self.index == Some(0);
        let nonce = self.next_nonce(is_last)?;
        if segment.len() <= TAG && !is_first {
            return Err(FileError::NotAuthentic.into());
        }
        let opened = self.cipher.open_in_place(nonce, Aad::empty(), segment);
        let length = opened.map_err(|_| FileError::NotAuthentic)?.len();
        segment.truncate(length);
        Ok(())
    }

    fn next_nonce(&mut self, is_last: bool) -> Result<Nonce, Error> {
        let index = self.index.ok_or(FileError::TooLong)?;
        self.index = index.checked_add(1);
        let mut nonce = [0; 12];
        let (prefix, rest) = nonce.split_at_mut(7);
        let (number, last) = rest.split_at_mut(4);
        prefix.copy_from_slice(&self.nonce_prefix);
        number.copy_from_slice(&index.to_be_bytes());
        last.copy_from_slice(&[u8::from(is_last)]);
        Ok(Nonce::assume_unique_for_key(nonce))
    }
}

#[derive(Clone, Copy)]
struct KeyLength;

impl KeyType for KeyLength {
    fn len(&self) -> usize {
        KEY
    }
}
