//! The logs in Postgres.

mod attesting;
mod checkpoints;
mod clock;
mod head;
mod keys;
mod records;
mod tree;

pub(crate) use self::attesting::AttestingEvent;
pub(super) use self::attesting::{attesting_of, last_attesting};
pub(super) use self::checkpoints::{
    publish, published, put_checkpoint, put_cosigned, put_witness, witnesses,
};
pub(super) use self::clock::now;
pub(super) use self::head::{head, lock_init, put_origin};
pub(super) use self::keys::{are_whole, cosigners, keep_origin, keys, origin};
pub(super) use self::records::{
    RecordKey, Sealed, Slice, attached_days, count_newer, first_sealed_from, kept_from,
    leaf_hashes, sealed, sealed_around, sealed_record, slice,
};
pub(super) use self::tree::{Growth, grow, hashes};
use super::Log;
use crate::db::undecodable;
use formats::tlog::Hash;

/// The number of a log in the tables.
pub(super) const fn number(log: Log) -> i16 {
    match log {
        Log::Operations => 1,
        Log::Management => 2,
    }
}

pub(super) fn signed_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn natural(number: i64) -> sqlx::Result<u64> {
    u64::try_from(number).map_err(undecodable)
}

fn hash(bytes: &[u8]) -> sqlx::Result<Hash> {
    Hash::try_from(bytes).map_err(undecodable)
}
