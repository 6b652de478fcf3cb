//! The key of the seals.

mod audit_logs;
mod marks;

use std::collections::BTreeMap;
use std::fmt;

use aws_lc_rs::{hkdf, hmac};

use super::seal::Seal;
use super::{FIRST_FORM, Flaw, Form, Forms, RowName};

/// The number of bytes before the MAC: the form and the generation.
const HEAD: usize = 5;

/// The row key, in the generations that count. One of them seals.
#[derive(Clone)]
pub struct RowKey {
    generations: BTreeMap<u32, hmac::Key>,
    sealing: u32,
}

/// That a generation seals from now on, as its predecessor says.
#[derive(Clone, Debug)]
pub struct Endorsement {
    /// The generation.
    pub generation: u32,
    /// The one that sealed before.
    pub predecessor: u32,
    /// The MAC of the fingerprint of the generation under its predecessor.
    pub mac: Vec<u8>,
}

impl RowKey {
    /// Derives it from the secrets of a token, one for each generation. None without a secret. The oldest one
    /// seals.
    pub fn derive<'s>(secrets: impl IntoIterator<Item = (u32, &'s [u8])>) -> Option<Self> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"sealward row key");
        let keys = secrets.into_iter().map(|(generation, secret)| {
            let info: [&[u8]; 1] = [&generation.to_be_bytes()];
            let derived = salt.extract(secret);
            let derived = derived.expand(&info, hmac::HMAC_SHA256).ok()?;
            Some((generation, hmac::Key::from(derived)))
        });
        Self::of(keys.collect::<Option<_>>()?)
    }

    /// The generations of several tokens. None without a token.
    pub(super) fn union(keys: Vec<Self>) -> Option<Self> {
        Self::of(keys.into_iter().flat_map(|key| key.generations).collect())
    }

    fn of(generations: BTreeMap<u32, hmac::Key>) -> Option<Self> {
        let (sealing, _) = generations.first_key_value()?;
        Some(Self { sealing: *sealing, generations })
    }

    /// The newest generation.
    pub fn newest(&self) -> u32 {
        self.generations.last_key_value().map_or(self.sealing, |(newest, _)| *newest)
    }

    /// The generation that seals.
    pub fn sealing(&self) -> u32 {
        self.sealing
    }

    /// The generations before this one.
    pub fn before(&self, generation: u32) -> Vec<u32> {
        self.generations.range(..generation).map(|(before, _)| *before).collect()
    }

    /// Whether it has this generation.
    pub fn has(&self, generation: u32) -> bool {
        self.generations.contains_key(&generation)
    }

    /// Whether another token derives the same key: they have a generation in common, and none differs.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let mut common = self
            .generations
            .iter()
            .filter_map(|(generation, key)| Some((key, other.generations.get(generation)?)))
            .peekable();
        common.peek().is_some() && common.all(|(key, other)| fingerprint(key) == fingerprint(other))
    }

    /// Says that the newest generation seals after the present one. None if it does already.
    pub fn endorse_newest(&self) -> Option<Endorsement> {
        let (generation, predecessor) = (self.newest(), self.sealing);
        let key = self.generations.get(&predecessor)?;
        let message = endorsed(self, generation)?;
        let mac = hmac::sign(key, &message).as_ref().to_vec();
        (generation != predecessor).then_some(Endorsement { generation, predecessor, mac })
    }

    /// Whether a generation of this key endorses one of the other key.
    pub fn endorses(&self, other: &Self, endorsements: &[Endorsement]) -> bool {
        endorsements.iter().any(|it| self.is_of(other, it))
    }

    /// Lets the newest endorsed generation seal.
    pub fn activate(&mut self, endorsements: &[Endorsement]) {
        let known = endorsements.iter().filter(|it| {
            // Its predecessor may be destroyed. Then only this generation is left.
            self.has(it.generation) && (!self.has(it.predecessor) || self.is_of(self, it))
        });
        if let Some(newest) = known.map(|it| it.generation).max() {
            self.sealing = newest;
        }
    }

    /// Whether this is an endorsement by this key of a generation of `other`.
    fn is_of(&self, other: &Self, endorsement: &Endorsement) -> bool {
        let Endorsement { generation, predecessor, mac } = endorsement;
        let key = self.generations.get(predecessor);
        let verified = key.zip(endorsed(other, *generation));
        verified.is_some_and(|(key, message)| hmac::verify(key, &message, mac).is_ok())
    }

    /// The seal: form, generation and MAC. None if a column came with a later form than the one that is
    /// written, and does not have its default.
    pub(super) fn seal(
        &self,
        row: RowName,
        revision: i64,
        (form, forms): (&Form, Forms),
    ) -> Option<Seal> {
        let content = form.digest(forms.written)?;
        let bytes = self.seal_content(row, revision, (forms.written, &content))?;
        Some(Seal { bytes, content, generation: self.sealing })
    }

    /// The seal that a row with this content and a seal that counts has now. None for another seal.
    pub(super) fn renew_content(
        &self,
        row: RowName,
        revision: i64,
        content: &[u8],
        seal: &[u8],
    ) -> Option<Vec<u8>> {
        self.verify_content(row, revision, content, seal).ok()?;
        self.seal_content(row, revision, (*seal.first()?, content))
    }

    fn seal_content(
        &self,
        row: RowName,
        revision: i64,
        (form, content): (u8, &[u8]),
    ) -> Option<Vec<u8>> {
        let key = self.generations.get(&self.sealing)?;
        let head = head(form, self.sealing);
        let mac = hmac::sign(key, &message(head, row, revision, content));
        Some([&head[..], mac.as_ref()].concat())
    }

    /// Compares a seal in constant time.
    pub(super) fn verify(
        &self,
        row: RowName,
        revision: i64,
        (form, forms): (&Form, Forms),
        seal: &[u8],
    ) -> Result<(), Flaw> {
        let version = *seal.first().ok_or(Flaw::Forged)?;
        if !(FIRST_FORM..=forms.newest).contains(&version) {
            return Err(Flaw::OtherVersion);
        }
        let content = form.digest(version);
        // Without the generation, nothing of the row is known to be false.
        self.verify_content(row, revision, content.as_deref().unwrap_or_default(), seal)
    }

    /// The same of a row with this content.
    pub(super) fn verify_content(
        &self,
        row: RowName,
        revision: i64,
        content: &[u8],
        seal: &[u8],
    ) -> Result<(), Flaw> {
        let (head, mac) = seal.split_first_chunk::<HEAD>().ok_or(Flaw::Forged)?;
        let [_, generation @ ..] = *head;
        let generation = u32::from_be_bytes(generation);
        let key = self.generations.get(&generation).ok_or(Flaw::OtherGeneration)?;
        hmac::verify(key, &message(*head, row, revision, content), mac).map_err(|_| Flaw::Forged)
    }
}

/// The key has no form for people.
impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowKey([redacted])")
    }
}

/// A value that shows whether two tokens derive the same key, and nothing of the key.
fn fingerprint(key: &hmac::Key) -> Vec<u8> {
    hmac::sign(key, b"fingerprint").as_ref().to_vec()
}

/// What the predecessor of a generation authenticates. No message of a seal begins so.
fn endorsed(of: &RowKey, generation: u32) -> Option<Vec<u8>> {
    let key = of.generations.get(&generation)?;
    Some([&b"successor"[..], &generation.to_be_bytes(), &fingerprint(key)].concat())
}

/// The generation of a seal.
pub(crate) fn generation_of(seal: &[u8]) -> Option<u32> {
    let (head, _) = seal.split_first_chunk::<HEAD>()?;
    let [_, generation @ ..] = *head;
    Some(u32::from_be_bytes(generation))
}

fn head(form: u8, generation: u32) -> [u8; HEAD] {
    let [a, b, c, d] = generation.to_be_bytes();
    [form, a, b, c, d]
}

/// What is authenticated. Every part but the last has a fixed length or ends with a zero byte.
fn message(head: [u8; HEAD], row: RowName, revision: i64, content: &[u8]) -> Vec<u8> {
    let revision = revision.to_be_bytes();
    [&head[..], row.table.as_bytes(), &[0], row.id.as_bytes(), &revision, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: RowName = RowName { table: "keys", id: uuid::Uuid::from_u128(7) };

    fn key(secrets: &[(u32, &'static [u8])]) -> RowKey {
        RowKey::derive(secrets.iter().copied()).unwrap()
    }

    fn form(status: &str) -> Form {
        let mut form = Form::default();
        form.add("status", &status, (FIRST_FORM, false)).unwrap();
        form
    }

    const FORMS: Forms = Forms { newest: 1, written: 1 };

    fn sealed(key: &RowKey, revision: i64, form: &Form) -> Vec<u8> {
        key.seal(ROW, revision, (form, FORMS)).unwrap().bytes
    }

    #[test]
    fn a_seal_is_that_of_one_row_with_these_columns_at_one_revision() {
        let key = key(&[(1, b"secret")]);
        let seal = sealed(&key, 3, &form("active"));
        assert_eq!(key.verify(ROW, 3, (&form("active"), FORMS), &seal), Ok(()));
        let another = RowName { table: "keys", id: uuid::Uuid::from_u128(8) };
        let elsewhere = RowName { table: "services", ..ROW };
        for (row, revision, status) in [
            (another, 3, "active"),
            (elsewhere, 3, "active"),
            (ROW, 4, "active"),
            (ROW, 3, "disabled"),
        ] {
            assert_eq!(key.verify(row, revision, (&form(status), FORMS), &seal), Err(Flaw::Forged));
        }
        for at in 0..seal.len() {
            let mut other = seal.clone();
            other[at] ^= 1;
            assert!(key.verify(ROW, 3, (&form("active"), FORMS), &other).is_err(), "byte {at}");
        }
        assert_eq!(key.verify(ROW, 3, (&form("active"), FORMS), &seal[..4]), Err(Flaw::Forged));
    }

    #[test]
    fn the_endorsed_generation_seals_and_the_others_count() {
        let (old, mut new) = (key(&[(1, b"old")]), key(&[(1, b"old"), (2, b"new")]));
        assert_eq!(
            old.verify(ROW, 1, (&form("active"), FORMS), &sealed(&new, 1, &form("active"))),
            Ok(())
        );
        let endorsement = new.endorse_newest().unwrap();
        new.activate(&[endorsement]);
        assert!(new.endorse_newest().is_none());
        let before = sealed(&old, 1, &form("active"));
        assert_eq!(new.verify(ROW, 1, (&form("active"), FORMS), &before), Ok(()));
        let after = sealed(&new, 1, &form("active"));
        assert_eq!(
            old.verify(ROW, 1, (&form("active"), FORMS), &after),
            Err(Flaw::OtherGeneration)
        );
        assert_eq!(key(&[(2, b"new")]).verify(ROW, 1, (&form("active"), FORMS), &after), Ok(()));
    }

    #[test]
    fn only_the_predecessor_endorses_a_generation() {
        let (old, both, new) =
            (key(&[(1, b"old")]), key(&[(1, b"old"), (2, b"new")]), key(&[(2, b"new")]));
        assert!(old.agrees_with(&both) && both.agrees_with(&new) && !old.agrees_with(&new));
        let endorsement = both.endorse_newest().unwrap();
        let all = [endorsement.clone()];
        assert!(old.endorses(&new, &all));
        let other = key(&[(2, b"other")]);
        assert!(!old.endorses(&other, &all) && !other.endorses(&new, &all));
        let mut forged = key(&[(1, b"old"), (2, b"other")]);
        forged.activate(&all);
        assert_eq!(forged.sealing(), 1);
        // Its predecessor is destroyed.
        let mut left = key(&[(2, b"new"), (3, b"next")]);
        left.activate(&all);
        assert_eq!((left.sealing(), left.newest(), left.before(3)), (2, 3, vec![2]));
    }

    #[test]
    fn another_secret_makes_another_key() {
        let (one, other) = (key(&[(1, b"one")]), key(&[(1, b"other")]));
        let seal = sealed(&one, 1, &form("active"));
        assert_eq!(other.verify(ROW, 1, (&form("active"), FORMS), &seal), Err(Flaw::Forged));
        assert!(!one.agrees_with(&other));
        assert!(RowKey::derive([]).is_none());
        assert_eq!(format!("{one:?}"), "RowKey([redacted])");
    }

    #[test]
    fn columns_do_not_run_into_each_other() {
        let of = |columns: &[(&str, Option<&str>)]| {
            let mut form = Form::default();
            columns
                .iter()
                .for_each(|(name, value)| form.add(name, value, (FIRST_FORM, false)).unwrap());
            form.in_form(FIRST_FORM).unwrap()
        };
        let forms = [
            of(&[("a", Some("bc"))]),
            of(&[("ab", Some("c"))]),
            of(&[("a", Some("b")), ("c", None)]),
            of(&[("a", None), ("bc", None)]),
            of(&[("a", Some("")), ("bc", None)]),
        ];
        for (place, form) in forms.iter().enumerate() {
            assert!(!forms[place + 1..].contains(form), "{place}");
        }
    }

    /// A row of two releases: the later one adds a column.
    #[test]
    fn a_column_of_a_later_form_has_its_default_in_rows_of_the_former() {
        let key = key(&[(1, b"secret")]);
        let with = |is_default: bool| {
            let mut form = form("active");
            form.add("added", &!is_default, (2, is_default)).unwrap();
            form
        };
        let former = sealed(&key, 1, &form("active"));
        let reads = Forms { newest: 2, written: 1 };
        assert_eq!(key.verify(ROW, 1, (&with(true), reads), &former), Ok(()));
        assert_eq!(key.verify(ROW, 1, (&with(false), reads), &former), Err(Flaw::Forged));
        // It writes rows that the former release reads, and no other ones.
        let seal = key.seal(ROW, 1, (&with(true), reads)).map(|seal| seal.bytes);
        assert_eq!(seal, Some(former.clone()));
        assert!(key.seal(ROW, 1, (&with(false), reads)).is_none());
        // The release after it.
        let writes = Forms { newest: 2, written: 2 };
        for is_default in [true, false] {
            let seal = key.seal(ROW, 1, (&with(is_default), writes)).unwrap().bytes;
            assert_eq!(key.verify(ROW, 1, (&with(is_default), reads), &seal), Ok(()));
            assert_eq!(key.verify(ROW, 1, (&with(!is_default), reads), &seal), Err(Flaw::Forged));
            let other = key.verify(ROW, 1, (&form("active"), FORMS), &seal);
            assert_eq!(other, Err(Flaw::OtherVersion));
        }
        let mut none = former;
        none[0] = 0;
        assert_eq!(key.verify(ROW, 1, (&form("active"), FORMS), &none), Err(Flaw::OtherVersion));
    }
}
