//! The rows that name the keys of checkpoints and the origins of the logs.

use uuid::Uuid;

use crate::ids::{AuditLogId, KeyId};
use crate::resource::Deprivable;
use crate::revision::Revision;
use crate::row;
use crate::seals::SealComparison;
use formats::clock::Timestamp;

row! {
    /// A key that signs checkpoints. The newest one signs.
    pub(crate) struct LogKey(KeyId) in "audit_log_keys", kept: true {
        /// The SubjectPublicKeyInfo in DER.
        public_key: Vec<u8>;
        /// The creation time.
        created_at: Timestamp;
    }
}

row! {
    /// A key of cosignatures. The newest one cosigns.
    pub(crate) struct LogCosigner(KeyId) in "audit_log_cosigners", kept: true {
        /// The SubjectPublicKeyInfo in DER.
        public_key: Vec<u8>;
        /// The creation time.
        created_at: Timestamp;
    }
}

row! {
    /// The origin of a log. Checkpoints of other origins are of other logs, which it need not extend.
    pub(crate) struct LogOrigin(AuditLogId) in "audit_log_origins", kept: true {
        /// The name of the log in its checkpoints.
        origin: String;
        /// The size of the tree when it got this origin, which `audit init` accepted as it was.
        accepted: i64;
        /// The segments below that size that no instance wrote.
        foreign_segments: Vec<Uuid>;
        /// Those of them that are forged for certain. Verification leaves them out.
        forged_segments: Vec<Uuid>;
    }
}

impl Deprivable for LogOrigin {
    /// What it accepts needs no signature. `audit init` makes another one from the segments. After the loss of a row key
    /// no segment would count, so then the origin stays, accepts only what a checkpoint covers, and leaves nothing out.
    fn resealed(self, comparison: SealComparison) -> Option<Self> {
        let kept = Self { accepted: 0, forged_segments: Vec::new(), ..self };
        (comparison == SealComparison::Unknown).then_some(kept)
    }
}

impl Deprivable for LogKey {}

impl Deprivable for LogCosigner {}

impl LogKey {
    /// A new key.
    pub(super) fn new(id: KeyId, public_key: Vec<u8>, created_at: Timestamp) -> Self {
        Self { id, public_key, created_at, revision: Revision::FIRST }
    }
}

impl LogCosigner {
    /// A new key.
    pub(super) fn new(id: KeyId, public_key: Vec<u8>, created_at: Timestamp) -> Self {
        Self { id, public_key, created_at, revision: Revision::FIRST }
    }
}

impl LogOrigin {
    /// The origin of a new log.
    pub(super) fn new(id: AuditLogId, origin: String) -> Self {
        Self {
            id,
            origin,
            accepted: 0,
            foreign_segments: Vec::new(),
            forged_segments: Vec::new(),
            revision: Revision::FIRST,
        }
    }
}
