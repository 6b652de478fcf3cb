//! A key that is in the token already.

use hsm::KeyName;

use super::said::Said;
use super::source::Source;
use crate::keys::Described;
use crate::management::Member;
use crate::management::keys::TokenObjectDraft;
use crate::material::PublicKey;
use crate::problem::{Code, Problem, Problems};

pub(super) fn token_object(
    found: &mut Problems,
    said: Said,
    draft: TokenObjectDraft,
    public: Option<PublicKey>,
) -> Option<Source> {
    const MEMBER: &str = "tokenObject";
    let name = match (draft.cka_id, draft.label) {
        (Member::Given(id), Member::Absent) => {
            let id = from_hex(&id);
            if id.is_none() {
                let message = "must be hex, two digits a byte, 1 to 255 bytes";
                found.note(Problem::new("tokenObject.ckaId", Code::Format, message));
            }
            KeyName::Id(id?)
        }
        (Member::Absent, Member::Given(label)) if !label.is_empty() && !label.contains('\0') => {
            KeyName::Label(label)
        }
        (Member::Absent, Member::Given(_)) => {
            let message = "must be the label of a key";
            found.note(Problem::new("tokenObject.label", Code::Format, message));
            return None;
        }
        (Member::Given(_), Member::Given(_)) | (Member::Absent, Member::Absent) => {
            let message = "must name the key by either ckaId or label";
            found.note(Problem::new(MEMBER, Code::Required, message));
            return None;
        }
        (Member::Wrong, _) | (_, Member::Wrong) => return None,
    };
    Some(Source::TokenObject(Described {
        name,
        usage: said.usage,
        algorithm: said.algorithm,
        public,
    }))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes().chunks(2).map(|pair| {
        let digits = str::from_utf8(pair).ok()?;
        let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex
            .then(|| u8::from_str_radix(digits, 16).ok())
            .flatten()
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.filter(|bytes| (1..=255).contains(&bytes.len()))
}
