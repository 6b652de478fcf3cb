//! The vectors that Tink made: all clients read and write them.

use std::path::Path;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::io::BufReader;

use super::segments::Header;
use super::stream::{Beginning, decrypt, encrypt};
use crate::CachedKey;
use crate::error::{Error, FileError};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vectors {
    data_key: String,
    envelope: String,
    files: Vec<Whole>,
    broken: Vec<Broken>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole {
    name: String,
    plaintext: Plaintext,
    salt: String,
    nonce_prefix: String,
    size: usize,
    sha256: String,
    content: Option<String>,
}

#[derive(Deserialize)]
struct Plaintext {
    repeat: String,
    length: usize,
}

#[derive(Deserialize)]
struct Broken {
    name: String,
    of: String,
    edits: Vec<Edit>,
    error: String,
    authentic: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Edit {
    Remove { at: usize, length: usize },
    Insert { at: usize, base64: String },
    Flip { at: usize },
}

impl Vectors {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/files/vectors.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn key(&self) -> CachedKey {
        CachedKey::from_parts(bytes(&self.data_key), self.envelope.parse().unwrap())
    }

    async fn written(&self, file: &Whole) -> Vec<u8> {
        let header = Header {
            salt: bytes(&file.salt).try_into().unwrap(),
            nonce_prefix: bytes(&file.nonce_prefix).try_into().unwrap(),
        };
        let plaintext = file.plaintext.bytes();
        let mut sealed = Vec::new();
        let length =
            encrypt(&self.key(), header, plaintext.as_slice(), &mut sealed, |_| ()).await.unwrap();
        assert_eq!(length, file.plaintext.length as u64, "{}", file.name);
        sealed
    }

    /// The authentic bytes, and the result.
    async fn opened(&self, sealed: &[u8]) -> (Vec<u8>, Result<u64, Error>) {
        let mut source = BufReader::new(sealed);
        let mut plaintext = Vec::new();
        let result = match Beginning::read(&mut source).await {
            Ok(begin) => {
                decrypt(&bytes(&self.data_key), &begin, source, &mut plaintext, |_| ()).await
            }
            Err(error) => Err(error),
        };
        (plaintext, result)
    }
}

impl Plaintext {
    fn bytes(&self) -> Vec<u8> {
        self.repeat.bytes().cycle().take(self.length).collect()
    }
}

fn bytes(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}

#[tokio::test]
async fn the_files_of_tink_are_written_and_read() {
    let vectors = Vectors::read();
    for file in &vectors.files {
        let sealed = vectors.written(file).await;
        let sha256: String =
            digest(&SHA256, &sealed).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((sealed.len(), &sha256), (file.size, &file.sha256), "{}", file.name);
        let sealed = file.content.as_deref().map_or(sealed, bytes);
        let (plaintext, result) = vectors.opened(&sealed).await;
        assert_eq!(result.unwrap(), file.plaintext.length as u64, "{}", file.name);
        assert!(plaintext == file.plaintext.bytes(), "{}", file.name);
    }
}

#[tokio::test]
async fn broken_files_are_refused_after_their_authentic_bytes() {
    let vectors = Vectors::read();
    for broken in &vectors.broken {
        let file = vectors.files.iter().find(|file| file.name == broken.of).unwrap();
        let mut sealed = vectors.written(file).await;
        for edit in &broken.edits {
            match edit {
                Edit::Remove { at, length } => drop(sealed.drain(at..&(at + length))),
                Edit::Insert { at, base64 } => drop(sealed.splice(at..at, bytes(base64))),
                Edit::Flip { at } => sealed[*at] ^= 1,
            }
        }
        let (plaintext, result) = vectors.opened(&sealed).await;
        match broken.error.as_str() {
            "malformed" => {
                assert!(
                    matches!(result, Err(Error::File(FileError::Malformed))),
                    "{}",
                    broken.name
                );
            }
            _ => {
                let refused = matches!(result, Err(Error::File(FileError::NotAuthentic)));
                assert!(refused, "{}: {result:?}", broken.name);
            }
        }
        let expected = &file.plaintext.bytes()[..broken.authentic];
        assert!(plaintext == expected, "{}: {}", broken.name, plaintext.len());
    }
}
