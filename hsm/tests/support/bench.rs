//! A token that the tests of one process share.

use std::env;
use std::sync::OnceLock;

use cryptoki::context::Pkcs11;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::Attribute;
use cryptoki::session::Session;
use hsm::{Config, Token, TokenConfig};
use tokio::sync::OnceCell;

use super::home::{Home, Kind, LABELS};

/// A token under test. Tests tell their keys apart by fresh ids.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) kind: Kind,
    pub(crate) token: Token,
    pub(crate) config: TokenConfig,
}

pub(crate) async fn softhsm() -> &'static Bench {
    static BENCH: OnceCell<Bench> = OnceCell::const_new();
    BENCH.get_or_init(|| Bench::open(Kind::SoftHsm)).await
}

pub(crate) async fn kryoptic() -> &'static Bench {
    static BENCH: OnceCell<Bench> = OnceCell::const_new();
    BENCH.get_or_init(|| Bench::open(Kind::Kryoptic)).await
}

/// A fresh `CKA_ID`.
pub(crate) fn id() -> Vec<u8> {
    let mut id = vec![0; 16];
    aws_lc_rs::rand::fill(&mut id).unwrap();
    id
}

impl Bench {
    async fn open(kind: Kind) -> Self {
        let home = home();
        if kind == Kind::Kryoptic {
            home.initialise_kryoptic();
        }
        let config = home.token(&kind.module(), LABELS[0]);
        let token = Token::open(Config {
            allow_raw_rsa: kind == Kind::SoftHsm,
            ..Config::new(vec![config.clone()])
        });
        Self {
            kind,
            token: token.await.unwrap(),
            config,
        }
    }

    /// How many objects with this id there are, with those of other sessions.
    pub(crate) fn objects(&self, id: &[u8]) -> usize {
        let template = [Attribute::Id(id.to_vec())];
        self.session().find_objects(&template).unwrap().len()
    }

    /// Generates an AES key with this id as another program would.
    pub(crate) fn generate_elsewhere(&self, id: &[u8]) {
        let template = [
            Attribute::Token(true),
            Attribute::Id(id.to_vec()),
            Attribute::Label(b"of another program".to_vec()),
            Attribute::ValueLen(32.into()),
        ];
        let session = self.session();
        session
            .generate_key(&Mechanism::AesKeyGen, &template)
            .unwrap();
    }

    fn session(&self) -> Session {
        // The library is loaded and initialised, and the login is the process's.
        let context = Pkcs11::new(&self.config.module).unwrap();
        let slots = context.get_slots_with_token().unwrap();
        let slot = slots
            .into_iter()
            .find(|slot| context.get_token_info(*slot).unwrap().label() == LABELS[0])
            .unwrap();
        context.open_rw_session(slot).unwrap()
    }
}

/// Where this process keeps its tokens.
fn home() -> &'static Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = Home::furnish("bench");
        for (variable, value) in home.environment() {
            #[allow(
                unsafe_code,
                reason = "a C library reads its configuration's place from here"
            )]
            // SAFETY: a token is only opened after this, so no library has read these variables
            // before; all other tests ask the environment through `std`, which locks it.
            unsafe {
                env::set_var(variable, value);
            }
        }
        home
    })
}
