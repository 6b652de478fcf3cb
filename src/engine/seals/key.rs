//! The key of the seals.

use std::collections::BTreeMap;
use std::fmt;

use aws_lc_rs::{hkdf, hmac};

use super::{Flaw, Form, RowName};

/// The present way to write a row.
const VERSION: u8 = 1;

/// The number of bytes before the MAC: the version and the generation.
const HEAD: usize = 5;

/// The row key, in the generations that count. The newest one seals.
pub struct RowKey(BTreeMap<u32, hmac::Key>);

impl RowKey {
    /// Derives it from the secrets of a token, one for each generation. None without a secret.
    pub fn derive<'s>(secrets: impl IntoIterator<Item = (u32, &'s [u8])>) -> Option<Self> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"sealward row key");
        let keys = secrets.into_iter().map(|(generation, secret)| {
            let info: [&[u8]; 1] = [&generation.to_be_bytes()];
            let derived = salt.extract(secret);
            let derived = derived.expand(&info, hmac::HMAC_SHA256).ok()?;
            Some((generation, hmac::Key::from(derived)))
        });
        let keys: BTreeMap<_, _> = keys.collect::<Option<_>>()?;
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// A value that shows whether two tokens derive the same key, and nothing of the key.
    pub fn fingerprint(&self) -> Vec<u8> {
        let mut fingerprint = Vec::new();
        for (generation, key) in &self.0 {
            fingerprint.extend_from_slice(&generation.to_be_bytes());
            fingerprint.extend_from_slice(hmac::sign(key, b"fingerprint").as_ref());
        }
        fingerprint
    }

    /// The seal: version, generation and MAC.
    pub(super) fn seal(&self, row: RowName, revision: i64, form: &Form) -> Vec<u8> {
        let newest = self.0.last_key_value();
        newest.map_or_else(Vec::new, |(generation, key)| {
            let head = head(*generation);
            let mac = hmac::sign(key, &message(head, row, revision, form));
            [&head[..], mac.as_ref()].concat()
        })
    }

    /// Compares a seal in constant time.
    pub(super) fn verify(
        &self,
        row: RowName,
        revision: i64,
        form: &Form,
        seal: &[u8],
    ) -> Result<(), Flaw> {
        let (head, mac) = seal.split_first_chunk::<HEAD>().ok_or(Flaw::Forged)?;
        let [version, generation @ ..] = *head;
        if version != VERSION {
            return Err(Flaw::OtherVersion);
        }
        let key = self.0.get(&u32::from_be_bytes(generation)).ok_or(Flaw::OtherGeneration)?;
        hmac::verify(key, &message(*head, row, revision, form), mac).map_err(|_| Flaw::Forged)
    }
}

/// The key has no form for people.
impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowKey([redacted])")
    }
}

fn head(generation: u32) -> [u8; HEAD] {
    let [a, b, c, d] = generation.to_be_bytes();
    [VERSION, a, b, c, d]
}

/// What is authenticated. Every part but the last has a fixed length or ends with a zero byte.
fn message(head: [u8; HEAD], row: RowName, revision: i64, form: &Form) -> Vec<u8> {
    let revision = revision.to_be_bytes();
    [&head[..], row.table.as_bytes(), &[0], row.id.as_bytes(), &revision, form.as_bytes()].concat()
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
        form.add("status", &status).unwrap();
        form
    }

    #[test]
    fn a_seal_is_that_of_one_row_with_these_columns_at_one_revision() {
        let key = key(&[(1, b"secret")]);
        let seal = key.seal(ROW, 3, &form("active"));
        assert_eq!(key.verify(ROW, 3, &form("active"), &seal), Ok(()));
        let another = RowName { table: "keys", id: uuid::Uuid::from_u128(8) };
        let elsewhere = RowName { table: "services", ..ROW };
        for (row, revision, status) in [
            (another, 3, "active"),
            (elsewhere, 3, "active"),
            (ROW, 4, "active"),
            (ROW, 3, "disabled"),
        ] {
            assert_eq!(key.verify(row, revision, &form(status), &seal), Err(Flaw::Forged));
        }
        for at in 0..seal.len() {
            let mut other = seal.clone();
            other[at] ^= 1;
            assert!(key.verify(ROW, 3, &form("active"), &other).is_err(), "byte {at}");
        }
        assert_eq!(key.verify(ROW, 3, &form("active"), &seal[..4]), Err(Flaw::Forged));
    }

    #[test]
    fn the_newest_generation_seals_and_the_others_count() {
        let (old, new) = (key(&[(1, b"old")]), key(&[(1, b"old"), (2, b"new")]));
        let before = old.seal(ROW, 1, &form("active"));
        assert_eq!(new.verify(ROW, 1, &form("active"), &before), Ok(()));
        let after = new.seal(ROW, 1, &form("active"));
        assert_eq!(old.verify(ROW, 1, &form("active"), &after), Err(Flaw::OtherGeneration));
        assert_eq!(key(&[(2, b"new")]).verify(ROW, 1, &form("active"), &after), Ok(()));
    }

    #[test]
    fn another_secret_makes_another_key() {
        let (one, other) = (key(&[(1, b"one")]), key(&[(1, b"other")]));
        let seal = one.seal(ROW, 1, &form("active"));
        assert_eq!(other.verify(ROW, 1, &form("active"), &seal), Err(Flaw::Forged));
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert!(RowKey::derive([]).is_none());
        assert_eq!(format!("{one:?}"), "RowKey([redacted])");
    }

    #[test]
    fn columns_do_not_run_into_each_other() {
        let of = |columns: &[(&str, Option<&str>)]| {
            let mut form = Form::default();
            columns.iter().for_each(|(name, value)| form.add(name, value).unwrap());
            form.as_bytes().to_vec()
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
}
