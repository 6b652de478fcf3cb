//! Why records are not sealed.

use super::Log;
use super::anchor::AnchorError;
use super::key::NotSigned;

/// A log does not extend a checkpoint: the database was rolled back.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the {log} log does not extend its checkpoint of {size} records in {place}: records were lost or changed. Requests of \
     applications are refused. Find out why, then run `sealward audit init --new-origin`"
)]
pub struct Fork {
    pub log: Log,
    /// The origin of the log.
    pub origin: String,
    /// The size of the tree of the checkpoint.
    pub size: u64,
    /// Where the checkpoint is.
    pub place: &'static str,
}

/// Why sealing stopped.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// `sealward audit init` has not run.
    #[error("audit records are not sealed: run `sealward audit init`")]
    NotInitialized,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The database did not answer in time.
    #[error("the database did not answer in time")]
    Late,
    /// `audit init` gave the log another origin.
    #[error("the log has another origin")]
    Renewed,
    /// The head changed while this instance had the lock of the sealer.
    #[error(
        "the head of the {0} log moved while this instance had the lock of the sealer: it was changed in the database. \
         Find out why, then restart this instance"
    )]
    Moved(Log),
    /// A position after the latest checkpoint has a segment that no instance wrote, or hashes that do not lead there.
    #[error(
        "the {0} log has grown by records that no instance sealed: it was changed in the database. Find out why, then \
         run `sealward rows remove-segments`"
    )]
    Untrusted(Log),
    /// The hashes in the database do not lead to the head.
    #[error(
        "the hashes of the {0} log do not match its head: they were changed in the database. Find out why, then run \
         `sealward rows remove-segments`"
    )]
    Broken(Log),
    /// The origin is not the one that `audit init` sealed.
    #[error(
        "the origin of the {0} log was changed in the database. Find out why, then run `sealward audit init`, which \
         puts it back"
    )]
    Origin(Log),
    /// `audit init` has sealed no origin, or an operator has accepted that its row is missing.
    #[error(
        "the {0} log has no sealed origin. Find out why, then run `sealward audit init --new-origin`"
    )]
    NoOrigin(Log),
    /// The row of a key or of an origin does not count.
    #[error(
        "the row of a key or an origin of the audit logs was changed or removed in the database: see \"Rows that do not \
         count\" in the operations guide"
    )]
    Rows,
    /// The log does not extend a checkpoint.
    #[error(transparent)]
    Fork(#[from] Fork),
    /// The anchor has a checkpoint of a log, and the database does not have this log.
    #[error(
        "audit.seal.anchor has a checkpoint of the {0} log, and the database has no such log: the database was rolled back \
         or replaced. Requests of applications are refused. Find out why, then run `sealward audit init --new-origin`"
    )]
    Absent(Log),
    /// A checkpoint that should be this service's own has no valid signature.
    #[error(
        "the checkpoint of the {log} log in {place} has no valid signature of a known key: it was changed, or the key was \
         removed from the database. Find out why, then run `sealward audit init --new-origin`"
    )]
    Forged {
        /// The log.
        log: Log,
        /// Where the checkpoint is.
        place: &'static str,
    },
    /// The file of `audit.seal.anchor` failed.
    #[error(transparent)]
    Anchor(#[from] AnchorError),
    /// The key cannot sign for clients of public logs.
    #[error(
        "audit.seal.publish and audit.seal.witnesses need an Ed25519 key, and the audit log has an ECDSA \
         key. Remove them, or run `sealward audit init --new-key` with a token that supports Ed25519"
    )]
    NeedsEd25519,
    /// There is no key for the cosignature.
    #[error("audit.seal.post_quantum needs an ML-DSA-44 key: run `sealward audit init`")]
    NeedsCosigner,
    /// The checkpoint was not signed.
    #[error(transparent)]
    NotSigned(#[from] NotSigned),
}
