//! Rows that share something which decides.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::RowName;

/// What the members of groups share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupKind {
    /// The name in the table `revisions`, instead of the table of a row.
    pub name: &'static str,
    /// The table of the members.
    pub table: &'static str,
}

/// Rows that share something: the people with one subject, the keys that take over from each other. Entries of
/// the table `revisions` name the members, under an identifier that is derived from what they share. So nobody
/// who writes to the database hides a member and has another one decide in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// What its members share.
    pub(super) kind: GroupKind,
    pub(super) id: Uuid,
}

/// A row that joined a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The row.
    pub id: Uuid,
    /// The number of its first entry.
    pub first: i64,
    /// The number of its last entry. That of each entry of a group is higher than those before it.
    pub number: i64,
}

impl Group {
    /// The name of its entries.
    pub fn row(self) -> RowName {
        RowName { table: self.kind.name, id: self.id }
    }

    /// The rows that share these parts.
    pub fn of(kind: GroupKind, parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update(Sha256::digest(part));
        }
        let first = digest.finalize().first_chunk().copied();
        Self { kind, id: Uuid::from_bytes(first.unwrap_or_default()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: GroupKind = GroupKind { name: "of a test", table: "rows" };

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&[u8]]| Group::of(KIND, parts);
        assert_eq!(of(&[b"a", b"b"]), of(&[b"a", b"b"]));
        assert_ne!(of(&[b"a", b"b"]), of(&[b"ab"]));
        assert_ne!(of(&[b"a", b"b"]), of(&[b"b", b"a"]));
        let another = GroupKind { name: "of another test", ..KIND };
        assert_ne!(of(&[b"a"]), Group { kind: another, ..of(&[b"a"]) });
    }
}
