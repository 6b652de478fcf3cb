//! The logs in Postgres.

mod attesting;
mod checkpoints;
mod clock;
mod head;
mod keys;
mod recent;
mod records;
mod segments;
mod tree;

pub(crate) use self::attesting::AttestingEvent;
pub(super) use self::attesting::{attesting_of, lacks_changes, last_attesting};
pub(super) use self::checkpoints::{
    publish, published, put_checkpoint, put_cosigned, put_witness, witnesses,
};
pub(super) use self::clock::{Moment, moment, now};
pub(super) use self::head::{head, lock_head, lock_init, put_origin, restore_origin, shorten};
pub(super) use self::keys::{
    accepted_segments, cosigners, keep_origin, keys, newest_keys, origin, whole_keys,
};
pub(super) use self::recent::{TransactionKey, Unread, recent};
pub(super) use self::records::{
    RecordKey, attached_days, count_newer, kept_from, record_slice, records_after,
};
pub(super) use self::segments::{
    Sealed, around, avoid_sequential_scans, first_sealed_from, lock_stragglers, positioned, random,
    sealed, sealed_around, slice,
};
pub(super) use self::tree::{Growth, grow, hashes};
use crate::db::undecodable;
use formats::tlog::Hash;

pub(super) fn signed_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn natural(number: i64) -> sqlx::Result<u64> {
    u64::try_from(number).map_err(undecodable)
}

fn hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    Hash::try_from(bytes).map_err(undecodable)
}
