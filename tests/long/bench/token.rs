//! The token baseline: a loop around cryptoki, with one session per thread. `tests/long/bench/main.rs`
//! runs it.
//!
//! The line `OPERATION THREADS MILLISECONDS` runs an operation; `fill 0 COUNT` creates more keys.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a baseline, which ends at the first error"
)]

use std::io::stdin;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;

/// DER of the name of P-256.
const P256: [u8; 10] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const KIB: usize = 1_024;

/// The keys. The token generates them, as it does for the service.
struct Keys {
    rsa_2048: ObjectHandle,
    rsa_3072: ObjectHandle,
    p256: ObjectHandle,
    aes: ObjectHandle,
    /// The public point of the peer.
    peer: Vec<u8>,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let [module, label, pin_file] = &arguments[..] else {
        panic!("raw-token MODULE LABEL PIN-FILE");
    };
    let token = Pkcs11::new(module).expect("a module");
    let threads = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    token.initialize(threads).expect("a token");
    let slots = token.get_slots_with_token().expect("slots");
    let is_meant = |slot: &Slot| token.get_token_info(*slot).unwrap().label() == label;
    let slot = slots.into_iter().find(is_meant).expect("the token");
    let anchor = token.open_rw_session(slot).expect("a session");
    let pin = fs::read_to_string(pin_file).expect("a PIN");
    let pin = AuthPin::new(pin.trim().to_owned().into_boxed_str());
    anchor.login(UserType::User, Some(&pin)).expect("a login");
    let keys = Keys::create(&anchor);
    for command in stdin().lines() {
        let command = command.expect("a command");
        let words: Vec<&str> = command.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().expect("a number");
        match words[0] {
            "fill" => fill(&anchor, number(2)),
            what => run(&token, slot, &keys, what, number(1), Duration::from_millis(number(2))),
        }
    }
}

/// Runs one operation on `threads` threads for `span`, and prints the result.
fn run(token: &Pkcs11, slot: Slot, keys: &Keys, what: &str, threads: u64, span: Duration) {
    let (sender, times) = mpsc::channel();
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                let session = token.open_ro_session(slot).expect("a session");
                let operation = keys.operation(&session, what);
                while began.elapsed() < span {
                    let called = Instant::now();
                    operation(&session, keys);
                    sender.send(called.elapsed()).expect("a receiver");
                }
            });
        }
    });
    drop(sender);
    let span = began.elapsed().as_micros();
    let mut times: Vec<Duration> = times.into_iter().collect();
    times.sort_unstable();
    let percentile = |share: usize| times[(times.len() - 1) * share / 100].as_micros();
    println!(
        r#"{{"times":{},"spanUs":{span},"p50Us":{},"p99Us":{}}}"#,
        times.len(),
        percentile(50),
        percentile(99)
    );
}

type Operation = Box<dyn Fn(&Session, &Keys)>;

impl Keys {
    fn create(session: &Session) -> Self {
        let [rsa_2048, rsa_3072] = [2048_u64, 3072].map(|bits| rsa(session, bits));
        let (public, p256) = pair(
            session,
            &Mechanism::EccKeyPairGen,
            &[Attribute::EcParams(P256.to_vec())],
            &[Attribute::Derive(true), Attribute::Sign(true)],
        );
        let aes = secret(session);
        let attributes = session.get_attributes(public, &[AttributeType::EcPoint]).unwrap();
        let [Attribute::EcPoint(point)] = &attributes[..] else {
            panic!("a point");
        };
        Self {
            rsa_2048,
            rsa_3072,
            p256,
            aes,
            // The point is inside a DER octet string, after two bytes.
            peer: point[2..].to_vec(),
        }
    }

    /// An operation with prepared input, as the service calls it.
    fn operation(&self, session: &Session, what: &str) -> Operation {
        match what {
            // Where the token lacks OAEP, the service removes the padding itself.
            "rsa-2048-decrypt" => decrypt_rsa(self.rsa_2048, 2048),
            "rsa-3072-decrypt" => decrypt_rsa(self.rsa_3072, 3072),
            "rsa-2048-sign" => {
                let info = [0x5a; 51];
                Box::new(move |session, keys| {
                    session.sign(&Mechanism::RsaPkcs, keys.rsa_2048, &info).unwrap();
                })
            }
            "p-256-sign" => Box::new(|session, keys| {
                session.sign(&Mechanism::Ecdsa, keys.p256, &[0x5a; 32]).unwrap();
            }),
            "p-256-derive" => Box::new(derive),
            "aes-256-encrypt" => Box::new(|session, keys| {
                encrypt(session, keys);
            }),
            "aes-256-decrypt" => {
                let sealed = encrypt(session, self);
                Box::new(move |session, keys| {
                    let mut iv = [7; 12];
                    let by = GcmParams::new(&mut iv, b"", 128.into()).unwrap();
                    session.decrypt(&Mechanism::AesGcm(by), keys.aes, &sealed).unwrap();
                })
            }
            _ => panic!("unknown operation: {what}"),
        }
    }
}

fn decrypt_rsa(key: ObjectHandle, bits: usize) -> Operation {
    let mut block = vec![0x5a; bits / 8];
    // The value must be less than the modulus.
    block[0] = 0;
    Box::new(move |session, _| {
        session.decrypt(&Mechanism::RsaX509, key, &block).unwrap();
    })
}

fn encrypt(session: &Session, keys: &Keys) -> Vec<u8> {
    let mut iv = [7; 12];
    let by = GcmParams::new(&mut iv, b"", 128.into()).unwrap();
    session.encrypt(&Mechanism::AesGcm(by), keys.aes, &[0x5a; KIB]).unwrap()
}

fn derive(session: &Session, keys: &Keys) {
    let by = Ecdh1DeriveParams::new(EcKdf::null(), &keys.peer);
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::ValueLen(32.into()),
    ];
    let by = Mechanism::Ecdh1Derive(by);
    let secret = session.derive_key(&by, keys.p256, &template).unwrap();
    session.get_attributes(secret, &[AttributeType::Value]).unwrap();
    session.destroy_object(secret).unwrap();
}

/// Creates keys that no operation uses.
fn fill(session: &Session, count: u64) {
    for _ in 0..count {
        secret(session);
    }
    println!("filled");
}

fn rsa(session: &Session, bits: u64) -> ObjectHandle {
    let public = [Attribute::ModulusBits(bits.into()), Attribute::PublicExponent(vec![1, 0, 1])];
    let usages = [Attribute::Decrypt(true), Attribute::Sign(true)];
    pair(session, &Mechanism::RsaPkcsKeyPairGen, &public, &usages).1
}

fn pair(
    session: &Session,
    by: &Mechanism<'_>,
    public: &[Attribute],
    usages: &[Attribute],
) -> (ObjectHandle, ObjectHandle) {
    let public = [&[Attribute::Token(false)], public].concat();
    let private = [&key_attributes()[..], usages].concat();
    session.generate_key_pair(by, &public, &private).expect("a key pair")
}

fn secret(session: &Session) -> ObjectHandle {
    let own = [Attribute::ValueLen(32.into()), Attribute::Encrypt(true), Attribute::Decrypt(true)];
    let template = [&key_attributes()[..], &own].concat();
    session.generate_key(&Mechanism::AesKeyGen, &template).expect("a key")
}

/// The attributes of the keys of the service.
fn key_attributes() -> [Attribute; 5] {
    [
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Label(b"token baseline".to_vec()),
    ]
}
