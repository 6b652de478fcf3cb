//! The compact serialization of a signed token (RFC 7515, section 7.1), before its verification.

use std::borrow::Cow;
use std::fmt;

use super::refused::TokenRefused;
use formats::algorithms::JwsAlgorithm;
use formats::binary;
use formats::json::{Members, Text};

/// The longest token, in bytes.
const LONGEST: usize = 16 * 1024;

/// The members of the header that are read.
const HEADER: [&str; 5] = ["alg", "kid", "typ", "crit", "b64"];

/// A token with a readable header and an issuer. Nothing in it is verified.
pub struct Unverified<'a> {
    pub(super) header: Header,
    pub(super) claims: Vec<u8>,
    /// The text that is signed.
    pub(super) signed: &'a str,
    pub(super) signature: Vec<u8>,
    issuer: String,
}

/// The header of a token.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: JwsAlgorithm,
    pub(super) kid: Option<String>,
    /// The type in lower case, without the prefix `application/`.
    pub(super) typ: Option<String>,
}

impl<'a> Unverified<'a> {
    /// Reads a token.
    ///
    /// # Errors
    /// It is too long, is not a token, or its header has an algorithm or an extension that is not
    /// supported.
    pub fn parse(text: &'a str) -> Result<Self, TokenRefused> {
        if text.len() > LONGEST {
            return Err(TokenRefused::TooLong);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(TokenRefused::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(TokenRefused::Malformed)?;
        let decode = |part| binary::from_base64url(part).map_err(|_| TokenRefused::Malformed);
        let claims = decode(claims)?;
        Ok(Self {
            header: Header::parse(&decode(header)?)?,
            issuer: issuer(&claims)?,
            signature: decode(signature)?,
            claims,
            signed,
        })
    }

    /// The issuer that the token claims to have.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }
}

/// A token is a credential.
impl fmt::Debug for Unverified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unverified([redacted])")
    }
}

impl Header {
    fn parse(json: &[u8]) -> Result<Self, TokenRefused> {
        let text = Text::parse(json).map_err(|_| TokenRefused::Malformed)?;
        let mut members = Members::of(text, &HEADER);
        let algorithm = members.required_string("alg");
        let kid = members.optional_string("kid");
        let typ = members.optional_string("typ");
        // No extension is supported, and `b64` is one.
        let is_extended = members.get("crit").is_some() || members.get("b64").is_some();
        let parts = members.finish(|| Some((algorithm?, kid?, typ?)));
        let (algorithm, kid, typ) = parts.map_err(|_| TokenRefused::Malformed)?;
        if is_extended {
            return Err(TokenRefused::Extension);
        }
        let algorithm = algorithm.parse().map_err(|_| TokenRefused::Algorithm)?;
        Ok(Self { algorithm, kid: kid.map(Cow::into_owned), typ: typ.map(|typ| plain_type(&typ)) })
    }
}

/// A media type in lower case, without the prefix that RFC 7515 lets tokens leave out.
fn plain_type(typ: &str) -> String {
    let typ = typ.to_ascii_lowercase();
    match typ.strip_prefix("application/") {
        Some(plain) => plain.to_owned(),
        None => typ,
    }
}

fn issuer(claims: &[u8]) -> Result<String, TokenRefused> {
    let text = Text::parse(claims).map_err(|_| TokenRefused::Malformed)?;
    let mut members = Members::of(text, &["iss"]);
    let issuer = members.required_string("iss");
    let issuer = members.finish(|| issuer).map_err(|_| TokenRefused::Malformed)?;
    Ok(issuer.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str, claims: &str) -> String {
        let part = |text: &str| binary::to_base64url(text.as_bytes());
        format!("{}.{}.c2ln", part(header), part(claims))
    }

    fn refusal(header: &str) -> Option<TokenRefused> {
        Unverified::parse(&token(header, r#"{"iss":"a"}"#)).err()
    }

    #[test]
    fn the_header_is_read_without_its_key() {
        let header = r#"{"alg":"ES256","kid":"1","typ":"application/AT+JWT","jwk":{"kty":"EC"}}"#;
        let text = token(header, r#"{"iss":"https://issuer"}"#);
        let token = Unverified::parse(&text).unwrap();
        assert_eq!(token.header.algorithm, JwsAlgorithm::Es256);
        assert_eq!(token.header.kid.as_deref(), Some("1"));
        assert_eq!(token.header.typ.as_deref(), Some("at+jwt"));
        assert_eq!(token.issuer(), "https://issuer");
        assert_eq!(token.signature, b"sig");
    }

    #[test]
    fn headers_that_choose_how_they_are_verified_are_refused() {
        for algorithm in ["none", "None", "HS256", "es256", ""] {
            let header = format!(r#"{{"alg":"{algorithm}"}}"#);
            assert_eq!(refusal(&header), Some(TokenRefused::Algorithm), "{header}");
        }
        for header in [
            r#"{"alg":"ES256","crit":["exp"],"exp":1}"#,
            r#"{"alg":"ES256","crit":[]}"#,
            r#"{"alg":"ES256","b64":false}"#,
        ] {
            assert_eq!(refusal(header), Some(TokenRefused::Extension), "{header}");
        }
        for header in [
            "[]",
            "{}",
            r#"{"alg":7}"#,
            r#"{"alg":"none","alg":"ES256"}"#,
            r#"{"alg":"ES256","kid":7}"#,
        ] {
            assert_eq!(refusal(header), Some(TokenRefused::Malformed), "{header}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let claims = [r#"{}"#, r#"{"iss":7}"#, r#"{"iss":"a","iss":"b"}"#, "7"];
        let claims = claims.map(|claims| token(r#"{"alg":"ES256"}"#, claims));
        let texts = ["", "..", "a.b", "e30.e30.!", "e30.e30"].map(str::to_owned);
        for text in texts.into_iter().chain(claims) {
            let refused = Unverified::parse(&text).err();
            assert_eq!(refused, Some(TokenRefused::Malformed), "{text}");
        }
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(Unverified::parse(&long).err(), Some(TokenRefused::TooLong));
    }
}
