//! What bounds whatever needs a private key: the token alone, in a loop around cryptoki with a
//! session for each thread, and nothing else. `tests/bench/main.rs` runs it.
//!
//! A line `OPERATION THREADS MILLISECONDS` does one; `fill 0 COUNT` makes so many more keys.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a floor to measure against, which may fail as it likes"
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

/// The keys it works with, made in the token so that they cost what keys of the service cost.
struct Keys {
    rsa_2048: ObjectHandle,
    rsa_3072: ObjectHandle,
    p256: ObjectHandle,
    aes: ObjectHandle,
    /// A point on the curve.
    peer: Vec<u8>,
}

fn main() {
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|it| !it.starts_with("--"))
        .collect();
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
    let keys = Keys::made(&anchor);
    for order in stdin().lines() {
        let order = order.expect("an order");
        let words: Vec<&str> = order.split(' ').collect();
        let number = |place: usize| words[place].parse::<u64>().expect("a number");
        match words[0] {
            "fill" => fill(&anchor, number(2)),
            what => run(
                &token,
                slot,
                &keys,
                what,
                number(1),
                Duration::from_millis(number(2)),
            ),
        }
    }
}

/// Does one operation on so many threads, and says how often it was done.
fn run(token: &Pkcs11, slot: Slot, keys: &Keys, what: &str, threads: u64, span: Duration) {
    let (told, times) = mpsc::channel();
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            let told = told.clone();
            scope.spawn(move || {
                let session = token.open_ro_session(slot).expect("a session");
                let operation = keys.operation(&session, what);
                while began.elapsed() < span {
                    let asked = Instant::now();
                    operation(&session, keys);
                    told.send(asked.elapsed()).expect("somebody who counts");
                }
            });
        }
    });
    drop(told);
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
    fn made(session: &Session) -> Self {
        let [rsa_2048, rsa_3072] = [2048_u64, 3072].map(|bits| rsa(session, bits));
        let (public, p256) = pair(
            session,
            &Mechanism::EccKeyPairGen,
            &[Attribute::EcParams(P256.to_vec())],
            &[Attribute::Derive(true), Attribute::Sign(true)],
        );
        let aes = secret(session);
        let told = session
            .get_attributes(public, &[AttributeType::EcPoint])
            .unwrap();
        let [Attribute::EcPoint(point)] = &told[..] else {
            panic!("a point");
        };
        Self {
            rsa_2048,
            rsa_3072,
            p256,
            aes,
            // Within an octet string of DER, two bytes in.
            peer: point[2..].to_vec(),
        }
    }

    /// An operation as the service asks for it, with its input prepared.
    fn operation(&self, session: &Session, what: &str) -> Operation {
        match what {
            // The padding of OAEP is taken off elsewhere where a token cannot.
            "rsa-2048-decrypt" => decrypt_rsa(self.rsa_2048, 2048),
            "rsa-3072-decrypt" => decrypt_rsa(self.rsa_3072, 3072),
            "rsa-2048-sign" => {
                let info = [0x5a; 51];
                Box::new(move |session, keys| {
                    session
                        .sign(&Mechanism::RsaPkcs, keys.rsa_2048, &info)
                        .unwrap();
                })
            }
            "p-256-sign" => Box::new(|session, keys| {
                session
                    .sign(&Mechanism::Ecdsa, keys.p256, &[0x5a; 32])
                    .unwrap();
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
                    session
                        .decrypt(&Mechanism::AesGcm(by), keys.aes, &sealed)
                        .unwrap();
                })
            }
            _ => panic!("no such operation: {what}"),
        }
    }
}

fn decrypt_rsa(key: ObjectHandle, bits: usize) -> Operation {
    let mut block = vec![0x5a; bits / 8];
    // Below any modulus.
    block[0] = 0;
    Box::new(move |session, _| {
        session.decrypt(&Mechanism::RsaX509, key, &block).unwrap();
    })
}

fn encrypt(session: &Session, keys: &Keys) -> Vec<u8> {
    let mut iv = [7; 12];
    let by = GcmParams::new(&mut iv, b"", 128.into()).unwrap();
    session
        .encrypt(&Mechanism::AesGcm(by), keys.aes, &[0x5a; KIB])
        .unwrap()
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
    session
        .get_attributes(secret, &[AttributeType::Value])
        .unwrap();
    session.destroy_object(secret).unwrap();
}

/// Keys that are only there.
fn fill(session: &Session, count: u64) {
    for _ in 0..count {
        secret(session);
    }
    println!("filled");
}

fn rsa(session: &Session, bits: u64) -> ObjectHandle {
    let public = [
        Attribute::ModulusBits(bits.into()),
        Attribute::PublicExponent(vec![1, 0, 1]),
    ];
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
    let private = [&guarded()[..], usages].concat();
    session
        .generate_key_pair(by, &public, &private)
        .expect("a key pair")
}

fn secret(session: &Session) -> ObjectHandle {
    let own = [
        Attribute::ValueLen(32.into()),
        Attribute::Encrypt(true),
        Attribute::Decrypt(true),
    ];
    let template = [&guarded()[..], &own].concat();
    session
        .generate_key(&Mechanism::AesKeyGen, &template)
        .expect("a key")
}

/// As the service makes its keys.
fn guarded() -> [Attribute; 5] {
    [
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Label(b"beside the service".to_vec()),
    ]
}
