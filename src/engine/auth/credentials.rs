//! The credentials of a request, and the one that authenticates it.

use super::ApiKeySecret;
use super::identity::CredentialRefused;
use crate::client_certificates::{self, ClientCertificate};
use formats::wiped::Wiped;

/// What a request presents to authenticate.
#[derive(Clone, Debug)]
pub struct Credentials<'a> {
    /// Its `Authorization` header.
    pub authorization: Authorization<'a>,
    pub certificate: ClientCertificate,
}

/// The `Authorization` header of a request, or what stands for it.
#[derive(Clone, Copy)]
pub enum Authorization<'a> {
    /// There is none.
    Absent,
    /// The only one.
    One(&'a [u8]),
    /// The credential itself, from another place of the request.
    Token(&'a [u8]),
    /// There are several.
    Several,
}

/// The credentials of a request that outlive it. They wipe themselves.
#[derive(Debug)]
pub struct KeptCredentials {
    authorization: KeptAuthorization,
    certificate: ClientCertificate,
}

/// An [`Authorization`] that outlives its request.
#[derive(Debug)]
enum KeptAuthorization {
    Absent,
    One(Wiped<Vec<u8>>),
    Token(Wiped<Vec<u8>>),
}

impl KeptCredentials {
    /// The credentials as a request presents them.
    pub fn presented(&self) -> Credentials<'_> {
        let authorization = match &self.authorization {
            KeptAuthorization::Absent => Authorization::Absent,
            KeptAuthorization::One(only) => Authorization::One(only),
            KeptAuthorization::Token(token) => Authorization::Token(token),
        };
        Credentials { authorization, certificate: self.certificate.clone() }
    }
}

/// The credential that authenticates a request.
pub(super) enum PresentedCredential<'a> {
    Key(ApiKeySecret),
    Token(&'a str),
    Certificate,
}

impl<'a> Credentials<'a> {
    /// The token that authenticates the request; none for another credential.
    pub fn token(&self) -> Option<&'a str> {
        match self.presented() {
            Ok(PresentedCredential::Token(token)) => Some(token),
            Ok(PresentedCredential::Key(_) | PresentedCredential::Certificate) | Err(_) => None,
        }
    }

    /// The text of the API key or token that authenticates the request; none for another credential.
    pub fn secret(&self) -> Option<&'a str> {
        match self.authorization {
            Authorization::One(value) => bearer_text(value).ok(),
            Authorization::Token(value) => str::from_utf8(value).ok(),
            Authorization::Absent | Authorization::Several => None,
        }
    }

    /// A copy that outlives the request. Several headers authenticate nobody, so none of them is kept.
    pub fn keep(&self) -> KeptCredentials {
        let kept = |value: &[u8]| Wiped::new(value.to_vec());
        let authorization = match self.authorization {
            Authorization::One(value) => KeptAuthorization::One(kept(value)),
            Authorization::Token(value) => KeptAuthorization::Token(kept(value)),
            Authorization::Absent | Authorization::Several => KeptAuthorization::Absent,
        };
        KeptCredentials { authorization, certificate: self.certificate.clone() }
    }

    /// Where there is an `Authorization` header, only it authenticates.
    pub(super) fn presented(&self) -> Result<PresentedCredential<'a>, CredentialRefused> {
        if let ClientCertificate::Malformed = self.certificate {
            return Err(client_certificates::CertificateRefused::Malformed.into());
        }
        match (self.authorization, &self.certificate) {
            (Authorization::One(value), _) => credential(bearer_text(value)?),
            (Authorization::Token(value), _) => {
                let text = str::from_utf8(value).map_err(|_| CredentialRefused::Malformed)?;
                credential(text)
            }
            (Authorization::Absent, ClientCertificate::Presented(_)) => {
                Ok(PresentedCredential::Certificate)
            }
            (Authorization::Absent | Authorization::Several, _) => Err(CredentialRefused::Missing),
        }
    }
}

/// A credential is never printed.
impl std::fmt::Debug for Authorization<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::One(_) => "One([redacted])",
            Self::Token(_) => "Token([redacted])",
            Self::Several => "Several",
        })
    }
}

/// The credential in `Bearer <credential>`. The scheme is case-insensitive (RFC 9110, section 11.1).
fn bearer_text(value: &[u8]) -> Result<&str, CredentialRefused> {
    let value = std::str::from_utf8(value).map_err(|_| CredentialRefused::Malformed)?;
    let (scheme, credential) = value.split_once(' ').ok_or(CredentialRefused::Malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(CredentialRefused::Malformed);
    }
    Ok(credential.trim_matches(' '))
}

fn credential(credential: &str) -> Result<PresentedCredential<'_>, CredentialRefused> {
    // API keys have no dots.
    if credential.contains('.') {
        return Ok(PresentedCredential::Token(credential));
    }
    let key = ApiKeySecret::parse(credential).map_err(|_| CredentialRefused::Malformed)?;
    Ok(PresentedCredential::Key(key))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::auth::ApiKeyType;
    use formats::clock::Entropy;

    fn presented(
        authorization: Authorization<'_>,
    ) -> Result<PresentedCredential<'_>, CredentialRefused> {
        let credentials = Credentials { authorization, certificate: ClientCertificate::Absent };
        credentials.presented()
    }

    #[test]
    fn a_key_is_read_after_its_scheme() {
        let key = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Test);
        let key = key.expose_secret();
        for header in [format!("Bearer {key}"), format!("bearer   {key} ")] {
            let presented = presented(Authorization::One(header.as_bytes()));
            assert!(matches!(presented, Ok(PresentedCredential::Key(_))), "{header}");
        }
        let token = presented(Authorization::One(b"Bearer e30.e30.c2ln"));
        assert!(matches!(token, Ok(PresentedCredential::Token("e30.e30.c2ln"))));
        for bad in [
            key.to_owned(),
            format!("Basic {key}"),
            format!("Bearer\t{key}"),
            format!("Bearer {key} {key}"),
            "Bearer ".to_owned(),
            String::new(),
        ] {
            let refusal = presented(Authorization::One(bad.as_bytes())).err();
            assert_eq!(refusal, Some(CredentialRefused::Malformed), "{bad}");
        }
        for none in [Authorization::Absent, Authorization::Several] {
            assert_eq!(presented(none).err(), Some(CredentialRefused::Missing));
        }
    }
}
