//! The JOSE header: reading and writing `protected`.

use super::algorithm::{Alg, Enc};
use super::context::{ContextTag, Ctx};
use crate::algorithms::{Curve, Family, Kem, OaepHash};
use crate::binary::{NotBase64, bytes_to_judge, from_base64url, to_base64url};
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};

/// The longest `protected` that is read, in characters of base64url. Sealward writes under 3,500, or under 500
/// without HPKE.
pub(super) const MAX_LEN: usize = 8 * 1024;

const READ: [&str; 12] =
    ["alg", "ctx", "cty", "ek", "enc", "epk", "kid", "pol", "typ", "apu", "apv", "psk_id"];

/// Parameters that would change the meaning of the envelope or the source of its key.
const REFUSED: [&str; 7] = ["zip", "crit", "p2c", "jku", "jwk", "x5u", "x5c"];

/// The header of an envelope.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) wrapping: Wrapping,
    pub(super) enc: Enc,
    pub(super) kid: Option<String>,
    pub(super) pol: Option<String>,
    pub(super) ctx: Ctx,
}

/// The members of a header to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewHeader<'a> {
    pub(super) alg: Alg,
    pub(super) enc: Enc,
    pub(super) kid: &'a str,
    pub(super) pol: Option<&'a str>,
    pub(super) ctx: Option<ContextTag>,
    pub(super) members: HeaderMembers<'a>,
    /// An uncompressed point.
    pub(super) epk: Option<(Curve, &'a [u8])>,
    /// The encapsulated secret of HPKE.
    pub(super) ek: Option<&'a [u8]>,
}

/// The header members that depend on what the recipient expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderMembers<'a> {
    pub typ: Option<&'a str>,
    /// The time of creation in seconds since 1970, as `iat`.
    pub iat: Option<i64>,
    /// Whether the `cty` is `json`. Otherwise there is none.
    pub cty: bool,
}

impl Default for HeaderMembers<'_> {
    fn default() -> Self {
        Self { typ: None, iat: None, cty: true }
    }
}

/// How the content key is wrapped, with its parameters.
#[derive(Debug)]
pub(super) enum Wrapping {
    Oaep(OaepHash),
    Agreement(Agreement),
    Encapsulation(Encapsulation),
}

/// The encapsulated secret of HPKE.
#[derive(Debug)]
pub(super) struct Encapsulation {
    pub(super) kem: Kem,
    /// Of any length.
    pub(super) ek: Vec<u8>,
}

/// The sender's half of ECDH-ES.
#[derive(Debug)]
pub(super) struct Agreement {
    pub(super) alg: Alg,
    pub(super) curve: Curve,
    /// Uncompressed, and not yet known to be on the curve; empty where it cannot be.
    pub(super) point: Vec<u8>,
    pub(super) apu: Vec<u8>,
    pub(super) apv: Vec<u8>,
}

impl Wrapping {
    pub(super) fn alg(&self) -> Alg {
        match self {
            Self::Oaep(OaepHash::Sha1) => Alg::RsaOaep,
            Self::Oaep(OaepHash::Sha256) => Alg::RsaOaep256,
            Self::Agreement(agreement) => agreement.alg,
            Self::Encapsulation(encapsulation) => match encapsulation.kem {
                Kem::P256MlKem768 => Alg::Hpke8Ke,
                Kem::MlKem768 => Alg::Hpke12Ke,
                Kem::MlKem1024 => Alg::Hpke13Ke,
            },
        }
    }

    pub(super) fn family(&self) -> Family {
        match self {
            Self::Oaep(_) => Family::Rsa,
            Self::Agreement(_) => Family::Ec,
            Self::Encapsulation(encapsulation) => encapsulation.kem.algorithm().family(),
        }
    }
}

/// An ephemeral public key, not yet known to be on its curve.
#[derive(Debug)]
pub(super) struct EphemeralKey {
    curve: Curve,
    /// Uncompressed; empty where it cannot be on the curve.
    point: Vec<u8>,
}

impl EphemeralKey {
    /// Replaces a malformed key, so that only its own problems are reported.
    pub(super) const MALFORMED: Self = Self { curve: Curve::P256, point: Vec::new() };
}

/// Reads the decoded `protected`; the problems are named as seen from inside it. Takes the ephemeral key
/// that is outside of it if it has none.
pub(super) fn read(json: &[u8], outside: &mut Option<EphemeralKey>) -> Result<Header, Problems> {
    let text = Text::parse(json)
        .map_err(|_| Problem::of_body(Code::Format, "must be the base64url of a JSON object"))?;
    let names: Vec<&str> = READ.into_iter().chain(REFUSED).collect();
    let mut members = Members::of(text, &names);
    for name in REFUSED {
        if members.get(name).is_some() {
            members.note(Problem::new(name, Code::Unsupported, "is not supported"));
        }
    }
    let alg = members.one_of("alg");
    let enc = members.one_of("enc");
    let kid = members.optional_string("kid");
    let pol = members.optional_string("pol");
    let ctx = members.optional_string("ctx");
    members.optional_string("cty");
    members.optional_string("typ");
    let outside = outside.take_if(|_| members.get("epk").is_none());
    let wrapping = alg.and_then(|alg| wrapping(&mut members, alg, outside));
    members.finish(|| {
        Some(Header {
            wrapping: wrapping?,
            enc: enc?,
            kid: kid?.map(Into::into),
            pol: pol?.map(Into::into),
            ctx: Ctx::of(ctx?.as_deref()),
        })
    })
}

/// Writes a header in base64url, its members in alphabetical order.
pub(super) fn write(header: NewHeader<'_>) -> String {
    let mut json = Vec::with_capacity(512);
    write_member(&mut json, "alg", header.alg.name());
    if let Some(ctx) = header.ctx {
        write_member(&mut json, "ctx", &ctx.to_string());
    }
    if header.members.cty {
        write_member(&mut json, "cty", "json");
    }
    if let Some(ek) = header.ek {
        write_member(&mut json, "ek", &to_base64url(ek));
    }
    write_member(&mut json, "enc", header.enc.name());
    if let Some((curve, point)) = header.epk {
        let coordinates = point.split_first().map_or(point, |(_form, xy)| xy);
        let (x, y) = coordinates.split_at(coordinates.len() / 2);
        json.extend_from_slice(b",\"epk\":");
        write_member(&mut json, "crv", curve.name());
        write_member(&mut json, "kty", "EC");
        write_member(&mut json, "x", &to_base64url(x));
        write_member(&mut json, "y", &to_base64url(y));
        json.push(b'}');
    }
    if let Some(iat) = header.members.iat {
        json.extend_from_slice(format!(",\"iat\":{iat}").as_bytes());
    }
    write_member(&mut json, "kid", header.kid);
    if let Some(pol) = header.pol {
        write_member(&mut json, "pol", pol);
    }
    if let Some(typ) = header.members.typ {
        write_member(&mut json, "typ", typ);
    }
    json.push(b'}');
    to_base64url(&json)
}

/// Appends a member whose value is a string, and before the first member of an object its brace.
/// The name needs no escape.
fn write_member(json: &mut Vec<u8>, name: &str, value: &str) {
    json.push(match json.last() {
        None | Some(b':') => b'{',
        Some(_) => b',',
    });
    json.push(b'"');
    json.extend_from_slice(name.as_bytes());
    json.extend_from_slice(b"\":");
    // Writing a string to memory does not fail.
    let _ = serde_json::to_writer(json, value);
}

/// Reads the value of `epk` (RFC 7518, section 6.2.1).
pub(super) fn read_ephemeral_key(jwk: Text<'_>) -> Result<EphemeralKey, Problems> {
    let mut members = Members::of(jwk, &["kty", "crv", "x", "y"]);
    if members.required_string("kty").is_some_and(|kty| kty != "EC") {
        members.note(Problem::new("kty", Code::Unsupported, "must be EC"));
    }
    let curve = members.one_of::<Curve>("crv");
    let x = members.required_string("x").and_then(|x| judged(&mut members, "x", &x));
    let y = members.required_string("y").and_then(|y| judged(&mut members, "y", &y));
    let (curve, x, y) = members.finish(|| Some((curve?, x?, y?)))?;
    // Coordinates of a wrong length become the empty point, which the curve check refuses.
    let whole = [&x, &y].map(|coordinate| coordinate.len() == curve.coordinate_len());
    let point =
        if whole == [true; 2] { [vec![Curve::UNCOMPRESSED], x, y].concat() } else { Vec::new() };
    Ok(EphemeralKey { curve, point })
}

fn wrapping(
    members: &mut Members<'_>,
    alg: Alg,
    outside: Option<EphemeralKey>,
) -> Option<Wrapping> {
    match alg {
        Alg::RsaOaep256 => Some(Wrapping::Oaep(OaepHash::Sha256)),
        Alg::RsaOaep => Some(Wrapping::Oaep(OaepHash::Sha1)),
        Alg::EcdhEsA256Kw | Alg::EcdhEsA128Kw => {
            let apu = party(members, "apu");
            let apv = party(members, "apv");
            let EphemeralKey { curve, point } = match outside {
                Some(key) => key,
                None => read_ephemeral_key(members.required("epk")?)
                    .map_err(|problems| members.note_inside("epk", problems))
                    .ok()?,
            };
            Some(Wrapping::Agreement(Agreement { alg, curve, point, apu: apu?, apv: apv? }))
        }
        Alg::Hpke8Ke | Alg::Hpke12Ke | Alg::Hpke13Ke => {
            if members.get("psk_id").is_some() {
                members.note(Problem::new("psk_id", Code::Unsupported, "is not supported"));
            }
            let ek = members.required_string("ek")?;
            let ek = judged(members, "ek", &ek)?;
            let kem = alg.encapsulation()?;
            Some(Wrapping::Encapsulation(Encapsulation { kem, ek }))
        }
    }
}

/// The identity of one party in the key derivation; empty where the header has none.
fn party(members: &mut Members<'_>, name: &str) -> Option<Vec<u8>> {
    match members.optional_string(name)? {
        None => Some(Vec::new()),
        Some(text) => or_noted(members, name, from_base64url(&text)),
    }
}

/// Reads the base64url of bytes that cryptography judges, or notes a problem.
pub(super) fn judged(members: &mut Members<'_>, name: &str, text: &str) -> Option<Vec<u8>> {
    or_noted(members, name, bytes_to_judge(from_base64url(text)))
}

fn or_noted(
    members: &mut Members<'_>,
    name: &str,
    read: Result<Vec<u8>, NotBase64>,
) -> Option<Vec<u8>> {
    if read.is_err() {
        let message = "must be base64url without padding";
        members.note(Problem::new(name, Code::Format, message));
    }
    read.ok()
}

#[cfg(test)]
mod tests;
