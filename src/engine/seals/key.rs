//! The key of the seals.

mod audit_logs;
mod marks;

use std::collections::BTreeMap;
use std::fmt;

use aws_lc_rs::{hkdf, hmac};

use super::seal::Seal;
use super::{FIRST_FORM, Flaw, Forms, RowForm, RowName};

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
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let mut common = self
            .generations
            .iter()
            .filter_map(|(generation, key)| Some((key, other.generations.get(generation)?)))
            .peekable();
        common.peek().is_some() && common.all(|(key, other)| fingerprint(key) == fingerprint(other))
    }

    /// Says that the newest generation seals after the present one. None if it does already.
    pub(crate) fn endorse_newest(&self) -> Option<Endorsement> {
        let (generation, predecessor) = (self.newest(), self.sealing);
        let key = self.generations.get(&predecessor)?;
        let message = endorsed(self, generation)?;
        let mac = hmac::sign(key, &message).as_ref().to_vec();
        (generation != predecessor).then_some(Endorsement { generation, predecessor, mac })
    }

    /// Whether a generation of this key endorses one of the other key.
    pub(crate) fn endorses(&self, other: &Self, endorsements: &[Endorsement]) -> bool {
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
        (form, forms): (&RowForm, Forms),
    ) -> Option<Seal> {
        let content = form.digest(forms.written)?;
        let bytes = self.seal_content(row, revision, (forms.written, &content))?;
        Some(Seal { bytes, content, generation: self.sealing })
    }

    /// Renews a seal that counts: the same content under the generation that seals now. None for any other seal.
    pub(super) fn renew_seal(
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
        (form, forms): (&RowForm, Forms),
        seal: &[u8],
    ) -> Result<(), Flaw> {
        let version = *seal.first().ok_or(Flaw::Forged)?;
        if !(FIRST_FORM..=forms.newest).contains(&version) {
            return Err(Flaw::OtherVersion);
        }
        let content = form.digest(version);
        // An unknown generation is reported first. No seal covers an empty content.
        self.verify_content(row, revision, content.as_deref().unwrap_or_default(), seal)
    }

    /// Verifies the seal of a row whose columns have the digest `content`, in constant time.
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
mod tests;
