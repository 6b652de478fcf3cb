//! Recipients: everything that seals a file key without a request.
//!
//! A recipient is the version 1, a byte each for the algorithm of the content key and the algorithm of the content,
//! then the texts number of the policy, ID of the policy and ID of the key, and then the public key: the coordinates
//! of a point, or the exponent with its length and the modulus. The length of the coordinates determines the curve.

use age_core::primitives::bech32_encode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bech32::Hrp;
use sealward_client::{EnvelopeHeaders, PolicySummary, PublishedJwk, SealingKey};

use crate::fields::{Reader, Writer, is_policy_number};

const VERSION: u8 = 1;
const PREFIX: Hrp = Hrp::parse_unchecked("age1sealward");

const ALGORITHMS: [(u8, &str); 4] =
    [(1, "RSA-OAEP-256"), (2, "RSA-OAEP"), (3, "ECDH-ES+A256KW"), (4, "ECDH-ES+A128KW")];
const CIPHERS: [(u8, &str); 2] = [(1, "A256GCM"), (2, "A128GCM")];
/// The curves with the length of a coordinate.
const CURVES: [(usize, &str); 3] = [(32, "P-256"), (48, "P-384"), (66, "P-521")];
/// The lengths of moduli, from 2048 to 8192 bits.
const MODULI: std::ops::RangeInclusive<usize> = 256..=1024;

/// The number of a policy, and what seals under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipient {
    pub(crate) policy: String,
    pub(crate) key: SealingKey,
}

/// Why a policy has no recipient.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotEncodable {
    #[error(transparent)]
    Local(#[from] sealward_client::LocalError),
    #[error("Sealward does not hold the private key, so it cannot open files")]
    DestinationManaged,
    #[error("the key or the header does not fit into a recipient")]
    Form,
}

impl Recipient {
    /// The recipient of a policy, with its newest key.
    pub(crate) fn of(policy: &PolicySummary) -> Result<Self, NotEncodable> {
        let key = policy.sealing_key()?;
        if key.policy_id.is_none() {
            return Err(NotEncodable::DestinationManaged);
        }
        if key.headers != headers() {
            return Err(NotEncodable::Form);
        }
        let recipient = Self { policy: policy.policy_number.clone(), key };
        // What would not come back must not be given to people.
        let bytes = recipient.to_bytes().ok_or(NotEncodable::Form)?;
        Self::from_bytes(&bytes).ok_or(NotEncodable::Form)
    }

    /// The recipient with these bytes; none if they are not exactly those of a recipient.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let alg = name(&ALGORITHMS, reader.byte()?)?;
        let enc = name(&CIPHERS, reader.byte()?)?;
        let policy = reader.text().filter(|number| is_policy_number(number))?.to_owned();
        let (policy_id, kid) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        let key = public_key(alg, kid, reader)?;
        let (alg, enc, headers) = (alg.to_owned(), enc.to_owned(), headers());
        Some(Self {
            policy,
            key: SealingKey { alg, enc, policy_id: Some(policy_id), headers, key },
        })
    }

    fn to_bytes(&self) -> Option<Vec<u8>> {
        let Self { policy, key } = self;
        let (alg, enc) = (number(&ALGORITHMS, &key.alg)?, number(&CIPHERS, &key.enc)?);
        let fields = Writer::new(&[VERSION, alg, enc])
            .text(policy)?
            .text(key.policy_id.as_deref()?)?
            .text(&key.key.kid)?;
        let PublishedJwk { n, e, x, y, .. } = &key.key;
        Some(match is_rsa(&key.alg) {
            true => fields.counted(&member(e.as_ref())?)?.rest(&member(n.as_ref())?),
            false => fields.rest(&[member(x.as_ref())?, member(y.as_ref())?].concat()),
        })
    }

    /// `age1sealward1…`
    pub(crate) fn text(&self) -> String {
        bech32_encode(PREFIX, &self.to_bytes().unwrap_or_default())
    }
}

/// The optional members of the header. They are the same wherever Sealward holds the private key.
fn headers() -> EnvelopeHeaders {
    EnvelopeHeaders { cty: Some("json".to_owned()), ..EnvelopeHeaders::default() }
}

/// The public key at the end of a recipient.
fn public_key(alg: &str, kid: String, mut reader: Reader<'_>) -> Option<PublishedJwk> {
    let empty = PublishedJwk {
        kty: String::new(),
        kid,
        usage: "enc".to_owned(),
        alg: alg.to_owned(),
        crv: None,
        x: None,
        y: None,
        n: None,
        e: None,
        r#pub: None,
    };
    let text = |bytes: &[u8]| Some(URL_SAFE_NO_PAD.encode(bytes));
    if is_rsa(alg) {
        let (e, n) = (reader.counted()?, reader.rest());
        let is_number = |bytes: &[u8]| bytes.first().is_some_and(|first| *first != 0);
        let is_key = is_number(e) && is_number(n) && e.len() <= 8 && MODULI.contains(&n.len());
        return is_key.then_some(PublishedJwk {
            kty: "RSA".into(),
            n: text(n),
            e: text(e),
            ..empty
        });
    }
    let point = reader.rest();
    let (length, curve) = CURVES.into_iter().find(|(length, _)| 2 * length == point.len())?;
    let (x, y) = point.split_at_checked(length)?;
    let crv = Some(curve.to_owned());
    Some(PublishedJwk { kty: "EC".into(), crv, x: text(x), y: text(y), ..empty })
}

fn is_rsa(alg: &str) -> bool {
    alg.starts_with("RSA")
}

/// The bytes of a member of a JWK.
fn member(text: Option<&String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok()
}

fn name(names: &[(u8, &'static str)], number: u8) -> Option<&'static str> {
    names.iter().find(|(it, _)| *it == number).map(|(_, name)| *name)
}

fn number(names: &[(u8, &str)], name: &str) -> Option<u8> {
    names.iter().find(|(_, it)| *it == name).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recipient whose key has these bytes at its end.
    fn bytes(alg: u8, key: &[u8]) -> Vec<u8> {
        let fields = Writer::new(&[VERSION, alg, 1]).text("PAYMENTS");
        let fields = fields.and_then(|it| it.text("pol_1")).and_then(|it| it.text("key_1"));
        fields.unwrap().rest(key)
    }

    #[test]
    fn a_recipient_comes_back() {
        let rsa = [&[3, 1, 0, 1][..], &[0xff; 384]].concat();
        let keys: [(u8, &[u8]); 5] =
            [(1, &rsa), (2, &rsa), (3, &[5; 64]), (4, &[5; 96]), (3, &[0; 132])];
        for (alg, key) in keys {
            let bytes = bytes(alg, key);
            let recipient = Recipient::from_bytes(&bytes).unwrap();
            assert_eq!(recipient.to_bytes(), Some(bytes), "{alg}");
            assert_eq!(recipient.policy, "PAYMENTS");
        }
    }

    #[test]
    fn the_text_of_version_1_stays_the_same() {
        let recipient = Recipient::from_bytes(&bytes(3, &[5; 64])).unwrap();
        let text = "age1sealward1qypszzzsg9v5632w23fs2ur0d30nzpttv4u47vg9q5zs2pg9q5zs2pg9q\
            5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg\
            9q5zs2pg9q5zs26m38qn";
        assert_eq!(recipient.text(), text);
    }

    #[test]
    fn other_bytes_are_refused() {
        let known = bytes(3, &[5; 64]);
        for length in 0..known.len() {
            assert_eq!(Recipient::from_bytes(&known[..length]), None, "{length}");
        }
        assert_eq!(Recipient::from_bytes(&[&known[..], b"\0"].concat()), None);
        for (place, values) in [(0, vec![0, 2]), (1, vec![0, 5]), (2, vec![0, 3])] {
            for value in values {
                let mut changed = known.clone();
                changed[place] = value;
                assert_eq!(Recipient::from_bytes(&changed), None, "{place} {value}");
            }
        }
        for key in [&[0, 1][..], &[3, 0, 0, 1], &[3, 1, 0, 1, 0]] {
            assert_eq!(
                Recipient::from_bytes(&bytes(1, &[key, &[9; 384]].concat())),
                None,
                "{key:?}"
            );
        }
        assert_eq!(Recipient::from_bytes(&bytes(1, &[3, 1, 0, 1, 9])), None);
    }
}
