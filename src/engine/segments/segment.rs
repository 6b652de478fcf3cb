//! A segment: records that one transaction wrote, with the hashes of their leaves.

use std::collections::HashSet;

use uuid::Uuid;

use super::Log;
use crate::seals::{Flaw, RowKey};
use formats::tlog::Hash;

/// The most records of a segment.
pub(crate) const MOST: usize = 512;

/// The most milliseconds between the first record of a segment and its identifier. The tables admit one more, for
/// an identifier that is not that of a record.
const WIDTH: u128 = 255;

/// The number of bits after the time in an identifier.
const AFTER_TIME: u32 = 80;

/// A record and the hash of its leaf.
pub(crate) type Leaf = (Uuid, Hash);

/// A segment as the database has it. Its MAC was not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) log: Log,
    /// The last record, or a later identifier.
    pub(crate) id: Uuid,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) mac: Vec<u8>,
}

impl Segment {
    /// A segment of these leaves under the row key.
    pub(super) fn new(log: Log, id: Uuid, leaves: Vec<Leaf>, key: &RowKey) -> Self {
        let mac = key.authenticate_segment(&content(log, id, &leaves));
        Self { log, id, leaves, mac }
    }

    /// The generation of the row key that its MAC names.
    pub(crate) fn generation(&self) -> Option<u32> {
        self.mac.first_chunk().map(|generation| u32::from_be_bytes(*generation))
    }

    /// Whether an instance with the row key wrote it as it is.
    pub(crate) fn verify(&self, key: &RowKey) -> Result<(), Flaw> {
        let is_sorted = self.leaves.is_sorted_by(|(one, _), (next, _)| one < next);
        if !is_sorted || self.leaves.is_empty() {
            return Err(Flaw::Forged);
        }
        key.verify_segment(&content(self.log, self.id, &self.leaves), &self.mac)
    }

    /// Whether no instance can have written it: its MAC is wrong, or of a generation that is not one of the `lost` ones.
    pub(crate) fn is_forged(&self, key: &RowKey, lost: &HashSet<u32>) -> bool {
        match self.verify(key) {
            Ok(()) => false,
            Err(Flaw::OtherGeneration) => self.generation().is_none_or(|it| !lost.contains(&it)),
            Err(_) => true,
        }
    }

    /// The MAC of its content under the generation that seals now, if another one has authenticated it.
    pub(crate) fn renewed(&self, key: &RowKey) -> Option<Vec<u8>> {
        self.verify(key).ok()?;
        let mac = key.authenticate_segment(&content(self.log, self.id, &self.leaves));
        (mac != self.mac).then_some(mac)
    }
}

/// Divides leaves into the parts that segments can have.
pub(super) fn cut(mut leaves: Vec<Leaf>) -> Vec<Vec<Leaf>> {
    leaves.sort_unstable_by_key(|(id, _)| *id);
    let mut parts: Vec<Vec<Leaf>> = Vec::new();
    for leaf in leaves {
        match parts.last_mut() {
            Some(part) if has_room(part, leaf.0) => part.push(leaf),
            Some(_) | None => parts.push(vec![leaf]),
        }
    }
    parts
}

fn has_room(part: &[Leaf], id: Uuid) -> bool {
    let is_near = |(first, _): &Leaf| millis(id) - millis(*first) <= WIDTH;
    part.len() < MOST && part.first().is_some_and(is_near)
}

fn millis(id: Uuid) -> u128 {
    id.as_u128() >> AFTER_TIME
}

/// What the MAC covers. All parts but the last have a fixed length for each record.
fn content(log: Log, id: Uuid, leaves: &[Leaf]) -> Vec<u8> {
    let mut content = Vec::with_capacity(18 + 48 * leaves.len());
    content.extend_from_slice(&log.number().to_be_bytes());
    content.extend_from_slice(id.as_bytes());
    for (record, hash) in leaves {
        content.extend_from_slice(record.as_bytes());
        content.extend_from_slice(hash.as_bytes());
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(millis: u128, rest: u128) -> Uuid {
        Uuid::from_u128((millis << AFTER_TIME) | rest)
    }

    fn leaf(id: Uuid) -> Leaf {
        (id, Hash::of_leaf(id.as_bytes()))
    }

    fn key() -> RowKey {
        RowKey::derive([(1, b"secret".as_slice())]).unwrap()
    }

    #[test]
    fn parts_are_sorted_narrow_and_short() {
        let ids = [id(1_000, 2), id(1_000, 1), id(1_255, 0), id(1_256, 0), id(3_000, 0)];
        let parts = cut(ids.map(leaf).to_vec());
        let parts: Vec<Vec<Uuid>> =
            parts.iter().map(|part| part.iter().map(|(id, _)| *id).collect()).collect();
        assert_eq!(parts, [vec![ids[1], ids[0], ids[2]], vec![ids[3]], vec![ids[4]]]);
        let many = (0..=MOST as u128).map(|rest| leaf(id(1, rest))).collect();
        let lengths: Vec<usize> = cut(many).iter().map(Vec::len).collect();
        assert_eq!(lengths, [MOST, 1]);
    }

    #[test]
    fn the_mac_covers_everything() {
        let key = key();
        let leaves = vec![leaf(id(1, 1)), leaf(id(1, 2))];
        let segment = Segment::new(Log::Operations, id(1, 2), leaves.clone(), &key);
        assert_eq!(segment.verify(&key), Ok(()));
        let changed = [
            Segment { log: Log::Management, ..segment.clone() },
            Segment { id: id(1, 3), ..segment.clone() },
            Segment { leaves: leaves[..1].to_vec(), ..segment.clone() },
            Segment { leaves: vec![leaves[0], (id(1, 2), leaves[0].1)], ..segment.clone() },
            Segment { leaves: vec![leaves[1], leaves[0]], ..segment.clone() },
            Segment { mac: Vec::new(), ..segment.clone() },
        ];
        for changed in changed {
            assert_eq!(changed.verify(&key), Err(Flaw::Forged), "{changed:?}");
        }
        let other = RowKey::derive([(1, b"another".as_slice())]).unwrap();
        assert_eq!(segment.verify(&other), Err(Flaw::Forged));
        let later = RowKey::derive([(2, b"secret".as_slice())]).unwrap();
        assert_eq!(segment.verify(&later), Err(Flaw::OtherGeneration));
    }
}
