//! What the table `revisions` says about a row.

use super::Flaw;
use formats::clock::Timestamp;
use formats::closed_set;

closed_set! {
    /// What happened to a row.
    pub enum What: "What" {
        /// It was made.
        Made = "made",
        /// It was changed.
        Changed = "changed",
        /// It was deleted: its row is a tombstone, or there is none.
        Gone = "gone",
        /// The service was frozen.
        Frozen = "frozen",
        /// The key or the identity was disabled.
        Disabled = "disabled",
        /// The person was locked.
        Locked = "locked",
        /// The API key was revoked.
        Revoked = "revoked",
    }
}

/// One entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The revision of the row.
    pub revision: i64,
    /// What happened.
    pub what: What,
    /// When.
    pub at: Timestamp,
}

/// What counts of a valid row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The newest revision. The next change has the one after it.
    pub newest: i64,
    /// The first and the last entry that took something away since the row was written.
    pub taken: Vec<Entry>,
}

impl Standing {
    /// Of a row at `revision` that can lose `loses`, with the entries that decide, the oldest first.
    pub(crate) fn of(
        revision: i64,
        loses: Option<What>,
        entries: Vec<Entry>,
    ) -> Result<Self, Flaw> {
        let mut entries = entries.into_iter();
        let newest = match entries.next() {
            Some(own) if own.revision == revision => own.revision,
            Some(_) | None => return Err(Flaw::Unknown),
        };
        let taken: Vec<Entry> = entries.collect();
        if !taken.iter().all(|entry| loses == Some(entry.what)) {
            return Err(Flaw::Superseded);
        }
        Ok(Self { newest: taken.last().map_or(newest, |entry| entry.revision), taken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(of: &[(i64, What)]) -> Vec<Entry> {
        let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
        of.iter().map(|&(revision, what)| Entry { revision, what, at }).collect()
    }

    #[test]
    fn a_row_counts_at_its_newest_revision_only() {
        let of = |revision, known: &[(i64, What)]| Standing::of(revision, None, entries(known));
        let newest = |standing: Result<Standing, Flaw>| standing.map(|standing| standing.newest);
        assert_eq!(newest(of(1, &[(1, What::Made)])), Ok(1));
        assert_eq!(newest(of(4, &[(4, What::Gone)])), Ok(4));
        assert_eq!(of(1, &[(1, What::Made), (2, What::Changed)]), Err(Flaw::Superseded));
        assert_eq!(of(1, &[(1, What::Made), (2, What::Gone)]), Err(Flaw::Superseded));
        assert_eq!(of(1, &[]), Err(Flaw::Unknown));
        assert_eq!(of(1, &[(2, What::Frozen)]), Err(Flaw::Unknown));
    }

    #[test]
    fn taking_away_needs_no_new_row() {
        let of = |known: Vec<Entry>| Standing::of(2, Some(What::Frozen), known);
        let known = entries(&[(2, What::Changed), (3, What::Frozen), (4, What::Frozen)]);
        let standing = of(known.clone()).unwrap();
        assert_eq!(standing, Standing { newest: 4, taken: known[1..].to_vec() });
        for later in [What::Changed, What::Gone, What::Revoked] {
            let mut superseded = known.clone();
            superseded.extend(entries(&[(5, later)]));
            assert_eq!(of(superseded), Err(Flaw::Superseded), "{later}");
        }
    }
}
