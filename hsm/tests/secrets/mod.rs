//! The secrets that tokens derive from internal keys.

mod made;
mod refused;
mod several;
mod stable;

use cryptoki::context::Pkcs11;
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use cryptoki::session::Session;
use faulty_token::Control;
use hsm::{HsmError, InternalSecret, SecretMethod, Token};

/// The name of the worker threads.
const WORKER: &str = "hsm-worker";
const LABEL: &[u8] = b"sealward-internal rows";

/// The id of the internal key of a generation. Keys of former releases have it.
fn id_of(generation: u32) -> Vec<u8> {
    [&b"sealward row"[..], &generation.to_be_bytes()].concat()
}

/// The secrets of the only token.
async fn secrets(token: &Token) -> Result<Vec<InternalSecret>, HsmError> {
    let mut each = token.internal_secrets().await;
    assert_eq!(each.len(), 1);
    each.remove(0).1
}

/// A secret, comparable.
fn parts(secret: &InternalSecret) -> (u32, SecretMethod, Vec<u8>) {
    (secret.generation, secret.method, secret.bytes.to_vec())
}

/// A session of another program on the token with this label. The token must be open.
fn session_on(label: &str) -> Session {
    // The library is initialized, and the login applies to the process.
    let context = Pkcs11::new(Control::module()).unwrap();
    let mut slots = context.get_slots_with_token().unwrap().into_iter();
    let slot = slots.find(|slot| context.get_token_info(*slot).unwrap().label() == label).unwrap();
    context.open_rw_session(slot).unwrap()
}

/// The number of objects in the first token with the id of this generation.
fn objects(generation: u32) -> usize {
    session_on("one").find_objects(&[Attribute::Id(id_of(generation))]).unwrap().len()
}

/// The attributes of an internal key as another program copies it into the token.
fn copied(key_type: KeyType, generation: u32, value: &[u8]) -> Vec<Attribute> {
    vec![
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(key_type),
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Id(id_of(generation)),
        Attribute::Label(LABEL.to_vec()),
        Attribute::Encrypt(key_type == KeyType::AES),
        Attribute::Decrypt(false),
        Attribute::Sign(key_type == KeyType::GENERIC_SECRET),
        Attribute::Verify(false),
        Attribute::Wrap(false),
        Attribute::Unwrap(false),
        Attribute::Derive(false),
        Attribute::Value(value.to_vec()),
    ]
}

/// Puts a key into the first token without Sealward.
fn create(template: &[Attribute]) {
    session_on("one").create_object(template).unwrap();
}

/// Replaces the attribute of the same type.
fn with(mut template: Vec<Attribute>, attribute: Attribute) -> Vec<Attribute> {
    let replaced = attribute.attribute_type();
    template.retain(|other| other.attribute_type() != replaced);
    template.push(attribute);
    template
}
