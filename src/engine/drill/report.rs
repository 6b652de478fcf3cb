//! The signed report of a drill.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;

use hsm::Token;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Examination;
use crate::db::Pool;
use crate::reports::{self, NotReported, Report};
use formats::clock::Timestamp;

/// The report.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DrillReport {
    /// The version of Sealward.
    version: &'static str,
    /// Whether nothing is wrong.
    passed: bool,
    #[serde(flatten)]
    restoration: Restoration,
    #[serde(flatten)]
    examination: Examination,
    /// The end of the drill.
    finished_at: Timestamp,
}

/// The restored dump.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restoration {
    /// The dump.
    pub dump: Dump,
    /// The beginning of the drill.
    pub started_at: Timestamp,
    /// The time at which the database was restored.
    pub restored_at: Timestamp,
}

/// The file with the dump.
#[derive(Clone, Debug, Serialize)]
pub struct Dump {
    /// Its name without its folder.
    file: String,
    /// Its length.
    bytes: u64,
    /// Its hash in hexadecimal.
    sha256: String,
}

/// The number of bytes that are read at once.
const PART: usize = 64 * 1024;

impl Dump {
    /// Copies the whole file, so that its hash is that of what `out` gets.
    pub fn copy(path: &Path, out: &mut impl Write) -> io::Result<Self> {
        let (mut file, mut part) = (File::open(path)?, vec![0; PART]);
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        loop {
            let count = file.read(&mut part)?;
            let Some(read) = part.get(..count).filter(|read| !read.is_empty()) else {
                break;
            };
            hash.update(read);
            bytes += read.len() as u64;
            out.write_all(read)?;
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name = path.file_name().unwrap_or_default();
        Ok(Self { file: name.to_string_lossy().into_owned(), bytes, sha256 })
    }
}

impl DrillReport {
    /// The report of a drill that ends now.
    pub fn new(restoration: Restoration, examination: Examination, now: Timestamp) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            passed: examination.problems().is_empty(),
            restoration,
            examination,
            finished_at: now,
        }
    }

    /// Signs the report in the token, with the newest key of reports in `pool`.
    pub async fn sign(&self, pool: &Pool, token: &Token) -> Result<Report, NotReported> {
        // Serializing plain fields to memory does not fail.
        let mut body = serde_json::to_vec_pretty(self).unwrap_or_default();
        body.push(b'\n');
        reports::sign_json(pool, token, self.finished_at, body).await
    }
}
