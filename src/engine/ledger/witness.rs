//! The client of a witness (C2SP `tlog-witness`).

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use ureq::Agent;

use super::Log;
use super::status::WitnessStatus;
use super::tree::consistency_proof;
use crate::db::Pool;
use crate::settings::{NotInPem, SealWitness, certificates};
use crate::web_client::client;
use formats::clock::Timestamp;
use formats::tlog::{Hash, InvalidKey, Note, Signature, VerifierKey};

/// The time after which a witness has not answered.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 64 * 1024;

/// A witness of the settings.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    url: String,
    pub(super) key: VerifierKey,
    agent: Agent,
}

/// Settings of a witness that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidWitness {
    /// The key is not a verifier key.
    #[error("audit.seal.witnesses[{place}].key {source}")]
    Key {
        /// The position in the list.
        place: usize,
        /// The reason.
        source: InvalidKey,
    },
    /// The key signs notes, not cosignatures.
    #[error("audit.seal.witnesses[{0}].key must be a cosignature key (type 4 or 6)")]
    Kind(usize),
    /// The certificates cannot be read.
    #[error("audit.seal.witnesses[{place}].ca: {}: {source}", path.display())]
    Certificates {
        /// The position in the list.
        place: usize,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: NotInPem,
    },
}

/// Why a witness did not cosign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotCosigned {
    #[error("the witness does not answer: {0}")]
    Away(String),
    #[error("the witness does not know this log (404): register its origin and public key")]
    UnknownLog,
    #[error("the witness accepts no signature of this log (403): register its public key")]
    UnknownKey,
    #[error("the witness has cosigned a tree that this log does not extend (409 or 422)")]
    Inconsistent,
    #[error("the witness has cosigned {0} records, which is more than this log has")]
    Ahead(u64),
    #[error("the witness answered {0}")]
    Status(u16),
    #[error("the answer of the witness has no valid cosignature of its key")]
    Signature,
    #[error("the answer of the witness is not a tree size")]
    Size,
    #[error("the hashes of the log are incomplete")]
    Hashes,
    #[error("the database failed: {0}")]
    Database(String),
}

/// The answer to a checkpoint.
enum WitnessAnswer {
    Cosigned(Signature),
    /// The witness has cosigned another tree, of this size if it says so.
    Conflict(Option<u64>),
}

pub(super) fn witnesses(settings: &[SealWitness]) -> Result<Vec<Witness>, InvalidWitness> {
    let each = settings.iter().enumerate();
    each.map(|(place, settings)| Witness::new(place, settings)).collect()
}

impl Witness {
    fn new(place: usize, settings: &SealWitness) -> Result<Self, InvalidWitness> {
        let key: VerifierKey =
            settings.key.parse().map_err(|source| InvalidWitness::Key { place, source })?;
        if !key.kind().is_cosignature() {
            return Err(InvalidWitness::Kind(place));
        }
        let read = |path: &PathBuf| {
            certificates(path).map_err(|source| InvalidWitness::Certificates {
                place,
                path: path.clone(),
                source,
            })
        };
        let authorities = settings.ca.as_ref().map(read).transpose()?;
        Ok(Self {
            url: settings.url.trim_end_matches('/').to_owned(),
            key,
            agent: client(authorities.as_deref(), TIMEOUT),
        })
    }

    /// Asks for a cosignature of the checkpoint of `size` records. `old` is the size of the tree that
    /// the witness has cosigned, if it is known; the witness corrects it.
    pub(super) async fn cosign(
        &self,
        pool: &Pool,
        log: Log,
        (note, size): (&Note, u64),
        mut old: u64,
    ) -> Result<Signature, NotCosigned> {
        // Another instance can change the size at the witness between two requests.
        for _ in 0..3 {
            if old > size {
                // The known size can be wrong, the one that the witness returns cannot.
                old = 0;
            }
            let proof = proof(pool, log, old, size).await?;
            match self.add_checkpoint(old, &proof, note).await? {
                WitnessAnswer::Cosigned(signature) => return Ok(signature),
                WitnessAnswer::Conflict(cosigned)
                    if old == size && cosigned.is_none_or(|cosigned| cosigned == size) =>
                {
                    return Err(NotCosigned::Inconsistent);
                }
                WitnessAnswer::Conflict(None) => return Err(NotCosigned::Size),
                WitnessAnswer::Conflict(Some(cosigned)) if cosigned > size => {
                    return Err(NotCosigned::Ahead(cosigned));
                }
                WitnessAnswer::Conflict(Some(cosigned)) => old = cosigned,
            }
        }
        Err(NotCosigned::Status(409))
    }

    /// Its status after an answer to the checkpoint of `size` records.
    pub(super) fn status(
        &self,
        size: u64,
        answer: &Result<Signature, NotCosigned>,
    ) -> WitnessStatus {
        let time = answer.as_ref().ok().and_then(Signature::cosigned_at);
        let millis = time.map(|time| i64::try_from(time).unwrap_or(i64::MAX).saturating_mul(1_000));
        WitnessStatus {
            name: self.key.name().to_owned(),
            size: if answer.is_ok() { size } else { 0 },
            cosigned_at: millis.map(Timestamp::from_millis),
            failure: answer.as_ref().err().map(ToString::to_string),
        }
    }

    async fn add_checkpoint(
        &self,
        old: u64,
        proof: &[Hash],
        note: &Note,
    ) -> Result<WitnessAnswer, NotCosigned> {
        let mut body = format!("old {old}\n");
        for hash in proof {
            let _ = writeln!(body, "{hash}");
        }
        let _ = write!(body, "\n{note}");
        let (agent, url) = (self.agent.clone(), format!("{}/add-checkpoint", self.url));
        let asked = tokio::task::spawn_blocking(move || {
            let mut response = agent.post(url).send(body)?;
            let status = response.status().as_u16();
            let body = response.body_mut().with_config().limit(MAX_ANSWER);
            Ok((status, body.read_to_string()?))
        });
        let away = |reason: String| NotCosigned::Away(reason);
        let asked: Result<_, ureq::Error> = asked.await.map_err(|error| away(error.to_string()))?;
        let (status, text) = asked.map_err(|error| away(error.to_string()))?;
        match status {
            200 => self.cosignature(note, &text).map(WitnessAnswer::Cosigned),
            403 => Err(NotCosigned::UnknownKey),
            404 => Err(NotCosigned::UnknownLog),
            409 => Ok(WitnessAnswer::Conflict(size(&text))),
            422 => Err(NotCosigned::Inconsistent),
            status => Err(NotCosigned::Status(status)),
        }
    }

    /// The cosignature in an answer. Other signatures are ignored.
    fn cosignature(&self, note: &Note, answer: &str) -> Result<Signature, NotCosigned> {
        let cosigned: Note =
            format!("{}\n{answer}", note.text()).parse().map_err(|_| NotCosigned::Signature)?;
        let signature = cosigned.signature_by(&self.key);
        let signature = signature.ok_or(NotCosigned::Signature)?;
        match signature.cosigned_at() {
            None | Some(0) => Err(NotCosigned::Signature),
            Some(_) => Ok(signature.clone()),
        }
    }
}

/// The proof that the tree of `new` leaves extends the tree of `old` leaves.
async fn proof(pool: &Pool, log: Log, old: u64, new: u64) -> Result<Vec<Hash>, NotCosigned> {
    let load = async {
        let mut connection = pool.acquire().await?;
        consistency_proof(&mut connection, log, old, new).await
    };
    let proof = load.await;
    let proof = proof.map_err(|error: sqlx::Error| NotCosigned::Database(error.to_string()))?;
    proof.ok_or(NotCosigned::Hashes)
}

/// A size in decimal and a newline.
fn size(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('\n')?;
    let size: u64 = digits.parse().ok()?;
    (size.to_string() == digits).then_some(size)
}
