//! The identifier that partners use for a new key.

use super::body::{KeyRequest, KeyText};
use crate::resource::{Member, Printable, Value as _};
use formats::json::{Members, Text, ValueKind};
use formats::problem::{Code, Problem, Problems};

/// The prefix of the identifiers of keys.
const OF_KEYS: &str = "key_";

/// The identifier that the request states, or else the `kid` of its JWK.
pub(super) fn partner_kid(body: &KeyRequest, problems: &mut Problems) -> Option<Printable> {
    let (field, kid) = match &body.partner_kid {
        Member::Wrong => return None,
        Member::Given(kid) => ("partnerKid", kid.clone()?),
        Member::Absent => {
            let jwks = [
                ("publicKey.kid", body.public_key.given()),
                ("privateKey.kid", body.private_key.given().map(|text| &text.0)),
            ];
            let mut kids = jwks.into_iter().filter_map(|(field, jwk)| {
                let kid = kid_of_jwk(jwk?, field, problems)?;
                Some((field, kid))
            });
            kids.next()?
        }
    };
    if kid.starts_with(OF_KEYS) {
        let message =
            "must not begin with key_, as the ids of keys do; partnerKid sets another one";
        problems.note(Problem::new(field, Code::Format, message));
        return None;
    }
    Some(kid)
}

fn kid_of_jwk(jwk: &KeyText, field: &str, problems: &mut Problems) -> Option<Printable> {
    // The whole body was parsed, so this part is JSON.
    let jwk = Text::parse(jwk.0.as_bytes()).ok()?;
    if jwk.kind() != ValueKind::Object {
        return None;
    }
    let kid = Members::of(jwk, &["kid"]).optional("kid")?;
    Printable::read(kid, field, problems).given().cloned()
}
