//! A token that the tests of one process share.

use std::env;
use std::sync::OnceLock;

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, MlKemParameterSetType, ObjectClass};
use cryptoki::session::Session;
use formats::algorithms::MlKem;
use hsm::{Config, KeyName, KeyRef, Token, TokenConfig};
use tokio::sync::{OnceCell, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::token_folder::{Kind, LABELS, TokenFolder};

/// The shared token. Tests use keys with unique IDs.
#[derive(Debug)]
pub(crate) struct SharedToken {
    pub(crate) kind: Kind,
    pub(crate) token: Token,
    pub(crate) config: TokenConfig,
    turns: RwLock<()>,
}

pub(crate) async fn softhsm() -> &'static SharedToken {
    static SHARED: OnceCell<SharedToken> = OnceCell::const_new();
    SHARED.get_or_init(|| SharedToken::open(Kind::SoftHsm)).await
}

pub(crate) async fn kryoptic() -> &'static SharedToken {
    static SHARED: OnceCell<SharedToken> = OnceCell::const_new();
    SHARED.get_or_init(|| SharedToken::open(Kind::Kryoptic)).await
}

/// A random `CKA_ID`.
pub(crate) fn id() -> Vec<u8> {
    let mut id = vec![0; 16];
    aws_lc_rs::rand::fill(&mut id).unwrap();
    id
}

impl SharedToken {
    async fn open(kind: Kind) -> Self {
        let home = home();
        if kind == Kind::Kryoptic {
            home.initialize_kryoptic();
        }
        let config = home.token(&kind.module(), LABELS[0]);
        let token = Token::open(Config {
            allow_raw_rsa: kind == Kind::SoftHsm,
            ..Config::new(vec![config.clone()])
        });
        let token = token.await.unwrap();
        faulty_token::skip_destructors();
        Self { kind, token, config, turns: RwLock::new(()) }
    }

    /// The turn of a test that can run beside others.
    pub(crate) async fn beside_others(&self) -> RwLockReadGuard<'_, ()> {
        self.turns.read().await
    }

    /// The turn of a test that no other test disturbs on this token, and that disturbs none.
    pub(crate) async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.turns.write().await
    }

    /// The number of objects with this ID, including those of other sessions.
    pub(crate) fn objects(&self, id: &[u8]) -> usize {
        let template = [Attribute::Id(id.to_vec())];
        self.session().find_objects(&template).unwrap().len()
    }

    /// Generates an AES key with this ID, like another program.
    pub(crate) fn generate_by_other_program(&self, id: &[u8]) {
        let template = [
            Attribute::Token(true),
            Attribute::Id(id.to_vec()),
            Attribute::Label(b"of another program".to_vec()),
            Attribute::ValueLen(32.into()),
        ];
        let session = self.session();
        session.generate_key(&Mechanism::AesKeyGen, &template).unwrap();
    }

    /// Generates a P-256 key for signatures with this ID, like another program: its attributes can change.
    pub(crate) fn generate_pair_by_other_program(&self, id: &[u8]) {
        let p256 = vec![0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
        let named = [Attribute::Token(true), Attribute::Id(id.to_vec())];
        let public = [&named[..], &[Attribute::EcParams(p256), Attribute::Verify(true)]].concat();
        let guarded = [Attribute::Private(true), Attribute::Sensitive(true), Attribute::Sign(true)];
        let private = [&named[..], &guarded].concat();
        let session = self.session();
        session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private).unwrap();
    }

    /// The attributes of the private or secret key with this ID that are true among these.
    pub(crate) fn allowed_by(&self, id: &[u8], attributes: &[AttributeType]) -> Vec<Attribute> {
        let session = self.session();
        let objects = session.find_objects(&[Attribute::Id(id.to_vec())]).unwrap();
        let class = |object| session.get_attributes(object, &[AttributeType::Class]).unwrap();
        let public = [Attribute::Class(ObjectClass::PUBLIC_KEY)];
        let key = objects.into_iter().find(|object| class(*object) != public).unwrap();
        let mut found = session.get_attributes(key, attributes).unwrap();
        let is_true = |it: &Attribute| {
            matches!(it, Attribute::Modifiable(true) | Attribute::SignRecover(true))
        };
        found.retain(is_true);
        found
    }

    /// Creates an HMAC key of this length, like another program.
    pub(crate) fn create_hmac(&self, length: usize) -> KeyName {
        let id = id();
        let template = [
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::GENERIC_SECRET),
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Id(id.clone()),
            Attribute::Sign(true),
            Attribute::Verify(true),
            Attribute::Value(vec![7; length]),
        ];
        self.session().create_object(&template).unwrap();
        KeyName::Id(id)
    }

    /// Creates an AES key with this ID that is visible without a login, like another program.
    pub(crate) fn create_visible_aes(&self, id: &[u8]) {
        let template = [
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Token(true),
            Attribute::Private(false),
            Attribute::Id(id.to_vec()),
            Attribute::Encrypt(true),
            Attribute::Decrypt(true),
            Attribute::Value(vec![7; 32]),
        ];
        self.session().create_object(&template).unwrap();
    }

    /// Replaces the public object of a key by that of another key, as a program can without the PIN.
    pub(crate) fn replace_public(&self, id: &[u8], by: &[u8]) {
        let session = self.session();
        let public = |id: &[u8]| {
            let class = Attribute::Class(ObjectClass::PUBLIC_KEY);
            let template = [class, Attribute::Id(id.to_vec())];
            session.find_objects(&template).unwrap()[0]
        };
        session.destroy_object(public(id)).unwrap();
        let name = Attribute::Id(id.to_vec());
        session.update_attributes(public(by), &[name]).unwrap();
    }

    /// Gives all objects with an ID another ID, like another program.
    pub(crate) fn rename(&self, id: &[u8], other: &[u8]) {
        let session = self.session();
        for object in session.find_objects(&[Attribute::Id(id.to_vec())]).unwrap() {
            let name = Attribute::Id(other.to_vec());
            session.update_attributes(object, &[name]).unwrap();
        }
    }

    /// Creates an ML-KEM key from a seed or from a decapsulation key, like another program. None if the token
    /// refuses the value.
    pub(crate) fn create_ml_kem(&self, set: MlKem, value: Attribute) -> Option<KeyRef> {
        let id = id();
        let parameters = match set {
            MlKem::MlKem768 => MlKemParameterSetType::ML_KEM_768,
            MlKem::MlKem1024 => MlKemParameterSetType::ML_KEM_1024,
        };
        let template = [
            Attribute::Class(ObjectClass::PRIVATE_KEY),
            Attribute::KeyType(KeyType::ML_KEM),
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Id(id.clone()),
            Attribute::Decapsulate(true),
            Attribute::ParameterSet(parameters.into()),
            value,
        ];
        let created = self.session().create_object(&template);
        created.ok().map(|_| KeyRef::private(id))
    }

    fn session(&self) -> Session {
        // The library is initialized, and the login applies to the process.
        let context = Pkcs11::new(&self.config.module).unwrap();
        let slots = context.get_slots_with_token().unwrap();
        let slot = slots
            .into_iter()
            .find(|slot| context.get_token_info(*slot).unwrap().label() == LABELS[0])
            .unwrap();
        context.open_rw_session(slot).unwrap()
    }
}

/// The token folder of this process.
fn home() -> &'static TokenFolder {
    static HOME: OnceLock<TokenFolder> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = TokenFolder::create("bench");
        for (variable, value) in home.environment() {
            #[allow(
                unsafe_code,
                reason = "a C library reads its configuration path from the environment"
            )]
            // SAFETY: tokens are opened after this call, so no library has read these variables
            // before. All other tests read the environment through `std`, which locks it.
            unsafe {
                env::set_var(variable, value);
            }
        }
        home
    })
}
