//! Keys that are in the token already.

use hsm::KeyName;

use super::body::TokenObjectRequest;
use super::kind::StatedKind;
use super::source::KeySource;
use crate::keys::DescribedKey;
use crate::resource::Member;
use formats::material::PublicKey;
use formats::problem::{Code, Problem, Problems};

pub(super) fn token_object(
    kind: StatedKind,
    body: TokenObjectRequest,
    public: Option<PublicKey>,
    problems: &mut Problems,
) -> Option<KeySource> {
    const MEMBER: &str = "tokenObject";
    let name = match (body.cka_id, body.label) {
        (Member::Given(id), Member::Absent) => {
            let id = from_hex(&id);
            if id.is_none() {
                let message = "must be 1 to 255 bytes in hex, two digits each";
                problems.note(Problem::new("tokenObject.ckaId", Code::Format, message));
            }
            KeyName::Id(id?)
        }
        (Member::Absent, Member::Given(label)) if !label.is_empty() && !label.contains('\0') => {
            KeyName::Label(label)
        }
        (Member::Absent, Member::Given(_)) => {
            let message = "must be a label of at least one character, without U+0000";
            problems.note(Problem::new("tokenObject.label", Code::Format, message));
            return None;
        }
        (Member::Given(_), Member::Given(_)) | (Member::Absent, Member::Absent) => {
            let message = "must have either ckaId or label";
            problems.note(Problem::new(MEMBER, Code::Required, message));
            return None;
        }
        (Member::Wrong, _) | (_, Member::Wrong) => return None,
    };
    Some(KeySource::TokenObject(DescribedKey {
        name,
        usage: kind.usage,
        algorithm: kind.algorithm,
        public,
    }))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes().chunks(2).map(|pair| {
        let digits = str::from_utf8(pair).ok()?;
        let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.filter(|bytes| (1..=255).contains(&bytes.len()))
}
