//! JSON Web Keys (RFC 7517, RFC 7518 section 6, RFC 8037, RFC 9964).

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::private::PrivateParts;

use super::{PrivateKey, PublicKey, PublicParts, RsaParts, ec, kem, ml_dsa, rsa};
use crate::binary;
use crate::json::{Members, Text};
use crate::problem::{Code, Problem, Problems};

/// A public JWK. Its members have the order of RFC 7638, and a thumbprint uses only these members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Jwk {
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    kty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#pub: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
}

impl Jwk {
    fn of(parts: &PublicParts) -> Self {
        let encode = |bytes: &[u8]| Some(binary::to_base64url(bytes));
        let blank =
            Self { alg: None, crv: None, e: None, kty: "", n: None, r#pub: None, x: None, y: None };
        match parts {
            PublicParts::Rsa { modulus, exponent } => {
                Self { kty: "RSA", n: encode(modulus), e: encode(exponent), ..blank }
            }
            PublicParts::Ec { curve, point } => {
                let (x, y) = ec::split(*curve, point);
                Self { kty: "EC", crv: Some(curve.name()), x: encode(x), y: encode(y), ..blank }
            }
            PublicParts::Ed25519 { point } => {
                Self { kty: "OKP", crv: Some(ED25519), x: encode(point), ..blank }
            }
            PublicParts::Kem { kem, key } => {
                Self { kty: "AKP", alg: Some(kem::alg(*kem)), r#pub: encode(key), ..blank }
            }
            PublicParts::MlDsa { set, key } => {
                Self { kty: "AKP", alg: Some(set.name()), r#pub: encode(key), ..blank }
            }
        }
    }

    /// Without `alg`, for a JWK that states `alg` for every type of key.
    pub fn without_alg(self) -> Self {
        Self { alg: None, ..self }
    }

    /// The text whose hash is the thumbprint.
    fn canonical(&self) -> String {
        // Strings with constant names cannot fail to serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl PublicKey {
    /// Reads a JWK. Refuses a JWK with a private key.
    pub fn from_jwk(text: Text<'_>) -> Result<Self, Problems> {
        read_public(text)
    }

    /// The JWK with the required members only.
    pub fn to_jwk(&self) -> Jwk {
        Jwk::of(self.parts())
    }

    /// The SHA-256 thumbprint of RFC 7638, in base64url.
    pub fn thumbprint(&self) -> String {
        binary::to_base64url(&Sha256::digest(self.to_jwk().canonical()))
    }
}

impl PrivateKey {
    /// Reads a JWK.
    pub fn from_jwk(text: Text<'_>) -> Result<Self, Problems> {
        read_private(text)
    }
}

const ED25519: &str = "Ed25519";

/// The members that are read. Others, such as `kid`, do not describe the key itself.
const READ: [&str; 17] = [
    "kty", "crv", "n", "e", "x", "y", "d", "p", "q", "dp", "dq", "qi", "oth", "k", "alg", "pub",
    "priv",
];

/// The private members.
const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/// Reads a public JWK.
fn read_public(text: Text<'_>) -> Result<PublicKey, Problems> {
    let mut members = Members::of(text, &READ);
    for name in PRIVATE {
        if members.get(name).is_some() {
            let message = "must be absent from a public key";
            members.note(Problem::new(name, Code::Conflict, message));
        }
    }
    let parts = public_parts(&mut members);
    let parts = members.finish(|| parts)?;
    Ok(PublicKey::new(parts)?)
}

/// Reads a private JWK with all public members.
fn read_private(text: Text<'_>) -> Result<PrivateKey, Problems> {
    let mut members = Members::of(text, &READ);
    let public = public_parts(&mut members);
    let secret = match &public {
        Some(PublicParts::MlDsa { .. } | PublicParts::Kem { .. }) => None,
        Some(PublicParts::Rsa { .. } | PublicParts::Ec { .. } | PublicParts::Ed25519 { .. })
        | None => bytes(&mut members, "d"),
    };
    let parts = match &public {
        Some(PublicParts::Rsa { modulus, exponent }) => {
            rsa_parts(&mut members, modulus, exponent, secret).map(PrivateParts::Rsa)
        }
        Some(PublicParts::Ec { curve, .. }) => {
            let curve = *curve;
            secret.map(|scalar| PrivateParts::Ec { curve, scalar })
        }
        Some(PublicParts::Ed25519 { .. }) => secret.map(|seed| PrivateParts::Ed25519 { seed }),
        Some(PublicParts::MlDsa { .. } | PublicParts::Kem { .. }) => {
            let message = "must be RSA, EC or OKP: the token generates keys of this type";
            members.note(Problem::new("kty", Code::Unsupported, message));
            None
        }
        None => None,
    };
    let (public, parts) = members.finish(|| public.zip(parts))?;
    let key = PrivateKey::new(parts).map_err(of_secret)?;
    key.belongs_to(&public).map_err(of_secret)?;
    Ok(key)
}

/// Problems of a scalar, a seed or mismatched keys are problems of `d`. Others name their member.
fn of_secret(problem: Problem) -> Problem {
    if problem.field.is_empty() { problem.inside("d") } else { problem }
}

fn rsa_parts(
    members: &mut Members<'_>,
    modulus: &[u8],
    exponent: &[u8],
    d: Option<Zeroizing<Vec<u8>>>,
) -> Option<RsaParts> {
    if members.get("oth").is_some() {
        let message = "must be absent: RSA keys have two primes";
        members.note(Problem::new("oth", Code::Unsupported, message));
    }
    let [p, q, dp, dq, qi] = ["p", "q", "dp", "dq", "qi"].map(|name| bytes(members, name));
    let trimmed = |number: Zeroizing<Vec<u8>>| Zeroizing::new(rsa::trimmed(&number).to_vec());
    Some(RsaParts {
        modulus: modulus.to_vec(),
        exponent: exponent.to_vec(),
        private_exponent: d.map(trimmed)?,
        prime1: p.map(trimmed)?,
        prime2: q.map(trimmed)?,
        exponent1: dp.map(trimmed)?,
        exponent2: dq.map(trimmed)?,
        coefficient: qi.map(trimmed)?,
    })
}

fn public_parts(members: &mut Members<'_>) -> Option<PublicParts> {
    let unsupported = |members: &mut Members<'_>, name, message| {
        members.note(Problem::new(name, Code::Unsupported, message));
        None
    };
    match members.required_string("kty")?.as_ref() {
        "RSA" => {
            let (modulus, exponent) = (bytes(members, "n"), bytes(members, "e"));
            Some(PublicParts::Rsa {
                modulus: rsa::trimmed(&modulus?).to_vec(),
                exponent: rsa::trimmed(&exponent?).to_vec(),
            })
        }
        "EC" => {
            let crv = members.required_string("crv");
            let (x, y) = (bytes(members, "x"), bytes(members, "y"));
            let Some(curve) = crv?.parse().ok() else {
                return unsupported(members, "crv", "must be P-256, P-384 or P-521");
            };
            let point = ec::join(curve, &x?, &y?);
            let point = point.map_err(|problem| members.note(problem)).ok()?;
            Some(PublicParts::Ec { curve, point })
        }
        "OKP" => {
            let (crv, x) = (members.required_string("crv"), bytes(members, "x"));
            if crv? != ED25519 {
                return unsupported(members, "crv", "must be Ed25519");
            }
            let point = x?.to_vec();
            Some(PublicParts::Ed25519 { point })
        }
        "AKP" => {
            let (alg, key) = (members.required_string("alg"), bytes(members, "pub"));
            let alg = alg?;
            let kinds = (alg.parse().ok(), kem::of_alg(&alg));
            if kinds == (None, None) {
                let message = "must be ML-DSA-44, ML-DSA-65, ML-DSA-87, HPKE-8-KE, HPKE-12-KE or \
                               HPKE-13-KE";
                return unsupported(members, "alg", message);
            }
            let key = key?.to_vec();
            let (parts, checked) = match kinds {
                (Some(set), _) => {
                    let checked = ml_dsa::check(set, &key);
                    (PublicParts::MlDsa { set, key }, checked)
                }
                (None, kem) => {
                    let kem = kem?;
                    let checked = kem::check(kem, &key);
                    (PublicParts::Kem { kem, key }, checked)
                }
            };
            checked.map_err(|problem| members.note(problem.inside("pub"))).ok()?;
            Some(parts)
        }
        "oct" => unsupported(
            members,
            "kty",
            "must be RSA, EC, OKP or AKP; send a secret key as secretKey",
        ),
        _ => unsupported(members, "kty", "must be RSA, EC, OKP or AKP"),
    }
}

/// The bytes of a required member, not empty.
fn bytes(members: &mut Members<'_>, name: &str) -> Option<Zeroizing<Vec<u8>>> {
    let text = Zeroizing::new(members.required_string(name)?.into_owned());
    match binary::from_base64url(&text) {
        Ok(bytes) if !bytes.is_empty() => Some(Zeroizing::new(bytes)),
        _ => {
            let message = "must be base64url without padding and not empty";
            members.note(Problem::new(name, Code::Format, message));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The P-256 key of RFC 7517, appendix A.2.
    const EC: &str = r#"{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE","use":"enc","kid":"1"}"#;
    /// The Ed25519 key of RFC 8037, appendix A.1.
    const OKP: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn text(text: &str) -> Text<'_> {
        Text::parse(text.as_bytes()).unwrap()
    }

    /// The problems of a public JWK.
    fn wrong(jwk: &str) -> Vec<(String, Code)> {
        fields_and_codes(read_public(text(jwk)).unwrap_err())
    }

    fn fields_and_codes(problems: Problems) -> Vec<(String, Code)> {
        let problems = problems.into_vec().into_iter();
        problems.map(|one| (one.field, one.code)).collect()
    }

    fn one(field: &str, code: Code) -> Vec<(String, Code)> {
        vec![(field.to_owned(), code)]
    }

    #[test]
    fn private_keys_of_the_rfcs_are_read() {
        for jwk in [EC, OKP] {
            let key = read_private(text(jwk)).unwrap();
            let again = PrivateKey::from_pkcs8(&key.to_pkcs8()).unwrap();
            assert_eq!(again.public(), key.public());
        }
    }

    #[test]
    fn a_private_key_is_not_accepted_as_a_public_key() {
        assert_eq!(wrong(EC), one("d", Code::Conflict));
    }

    #[test]
    fn all_missing_values_are_reported_at_once() {
        let mut both = one("x", Code::Type);
        both.extend(one("y", Code::Required));
        assert_eq!(wrong(r#"{"kty":"EC","crv":"P-256","x":7}"#), both);
        assert_eq!(wrong("{}"), one("kty", Code::Required));
        assert_eq!(wrong("[]"), one("", Code::Type));
    }

    #[test]
    fn an_unsupported_value_is_reported() {
        for (jwk, field, code) in [
            (r#"{"kty":"oct","k":"AAAA"}"#, "k", Code::Conflict),
            (r#"{"kty":"XYZ"}"#, "kty", Code::Unsupported),
            (r#"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#, "crv", Code::Unsupported),
            (r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, "x", Code::Length),
            (r#"{"kty":"OKP","crv":"X25519","x":"AA"}"#, "crv", Code::Unsupported),
            (r#"{"kty":"OKP","crv":"Ed25519","x":"AA=="}"#, "x", Code::Format),
            (r#"{"kty":"AKP","pub":"AA"}"#, "alg", Code::Required),
            (r#"{"kty":"AKP","alg":"ES256","pub":"AA"}"#, "alg", Code::Unsupported),
            (r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}"#, "pub", Code::Length),
            (r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AA","priv":"AA"}"#, "priv", Code::Conflict),
        ] {
            assert!(wrong(jwk).contains(&(field.to_owned(), code)), "{jwk}");
        }
    }

    #[test]
    fn halves_of_two_keys_are_refused() {
        let foreign = EC.replace("870MB6gf", "871MB6gf");
        let problems = read_private(text(&foreign)).unwrap_err();
        assert_eq!(fields_and_codes(problems), one("d", Code::Conflict));
    }
}
