//! The management API: one file per resource, and shared code of the handlers.

mod accept;
mod answer;
pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod audit_log;
pub(super) mod changes;
pub(super) mod emergency;
pub(super) mod events;
mod export;
mod extract;
mod filters;
pub(super) mod identities;
pub(super) mod keys;
pub(super) mod people;
pub(super) mod policies;
pub(super) mod reports;
pub(super) mod services;

pub(super) use self::answer::{
    Accepted, Created, CreatedWithoutPath, Current, List, NoContent, WithoutEtag,
};
pub(super) use self::audit_log::{LogText, LogTile, ProofBody, RecordProof, log_named, tile_at};
pub(super) use self::export::{Order, RecordsAnswer};
pub(super) use self::extract::{
    Address, CreateBody, DecisionBody, IfMatch, NoMembers, PathId, PathSegments, RestoreBody,
    UpdateBody,
};
pub(super) use self::reports::{BillOfMaterials, KeyRegisterFile, SIGNATURE};
