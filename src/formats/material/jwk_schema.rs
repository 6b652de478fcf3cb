//! The schemas of JSON Web Keys.

use std::borrow::Cow;

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Jwk;

const PUBLIC: [(&str, &str); 9] = [
    ("kty", "The key type: `RSA`, `EC`, `OKP` or `AKP`."),
    ("crv", "The curve of an EC or OKP key."),
    ("e", "The public exponent of an RSA key, in base64url."),
    ("n", "The modulus of an RSA key, in base64url."),
    ("x", "The x coordinate of an EC key, or the OKP key, in base64url."),
    ("y", "The y coordinate of an EC key, in base64url."),
    ("alg", "The algorithm. Required for an AKP key, such as `ML-DSA-65` or `HPKE-8-KE`."),
    ("pub", "The AKP key, in base64url."),
    ("kid", "The identifier of the key."),
];

const PRIVATE: [(&str, &str); 6] = [
    ("d", "The private exponent or the private key, in base64url."),
    ("p", "The first prime of an RSA key, in base64url."),
    ("q", "The second prime of an RSA key, in base64url."),
    ("dp", "`d` modulo `p` - 1, in base64url."),
    ("dq", "`d` modulo `q` - 1, in base64url."),
    ("qi", "The inverse of `q` modulo `p`, in base64url."),
];

/// The schema of a private JWK.
#[derive(Clone, Copy, Debug)]
pub enum PrivateJwk {}

impl PartialSchema for Jwk {
    fn schema() -> RefOr<Schema> {
        let about = "A public JWK (RFC 7517).";
        object(about, PUBLIC).required("kty").into()
    }
}

impl ToSchema for Jwk {
    fn name() -> Cow<'static, str> {
        "Jwk".into()
    }
}

impl PartialSchema for PrivateJwk {
    fn schema() -> RefOr<Schema> {
        let about = "A JWK with a private key (RFC 7517).";
        let object = object(about, PUBLIC.into_iter().chain(PRIVATE));
        object.required("kty").required("d").into()
    }
}

impl ToSchema for PrivateJwk {
    fn name() -> Cow<'static, str> {
        "PrivateJwk".into()
    }
}

/// An object whose members are strings. Other members are allowed.
fn object<'a>(about: &str, members: impl IntoIterator<Item = (&'a str, &'a str)>) -> ObjectBuilder {
    let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(about));
    members.into_iter().fold(object, |object, (name, about)| {
        let member = ObjectBuilder::new().schema_type(Type::String);
        object.property(name, member.description(Some(about)))
    })
}
