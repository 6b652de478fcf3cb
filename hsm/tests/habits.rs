//! Habits of tokens of other vendors, which the faulty token imitates. Each token worked otherwise.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::PublicKeyComponents;
use cryptoki_sys::{
    CKA_ALLOWED_MECHANISMS, CKF_USER_PIN_COUNT_LOW, CKR_CURVE_NOT_SUPPORTED, CKR_DEVICE_ERROR,
    CKR_FUNCTION_FAILED, CKR_GENERAL_ERROR, CKR_KEY_SIZE_RANGE, CKR_MECHANISM_INVALID,
};
use faulty_token::{Fault, Rule};
use formats::algorithms::{Algorithm, ImportMechanism, PublicParts};
use hsm::{
    Config, ErrorKind, ImportWrapped, NewKey, OpenError, PinAttempt, PinMemory, Purpose, Token,
    TokenSelect, TokenState, Trace, Works, wrap_for_import,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::support::{
    generate_key, id, in_child_process, in_child_processes, is_out, status, wait_until,
};

/// p11-kit's client makes a new instance for each function list, and none knows the sessions of another.
#[test]
fn all_calls_use_one_function_list() {
    in_child_processes(|fixture| async move {
        let no_second = Fault::Return(CKR_FUNCTION_FAILED).on("C_GetFunctionList");
        fixture.faults.rules(&[no_second.calls(2..=u64::MAX)]);
        let token = fixture.open().await;
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(fixture.faults.calls("C_GetFunctionList"), 1);
        token.close().await;
    });
}

/// openCryptoki before 3.11 reports a clock and no valid time.
#[test]
fn an_odd_time_hides_no_token() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::OddTime.on("C_GetTokenInfo")]);
        fixture.open().await.close().await;
    });
}

#[test]
fn an_unreadable_slot_is_named() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_GetTokenInfo").token("one")]);
        let error = Token::open(fixture.config()).await.unwrap_err();
        let OpenError::NoSuchToken { found, unreadable, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(found, &["two"]);
        assert_eq!(unreadable.len(), 1);
        assert!(error.to_string().contains("C_GetTokenInfo returned DeviceError"), "{error}");
    });
}

#[test]
fn a_module_that_does_not_start_is_a_module() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Return(CKR_FUNCTION_FAILED).on("C_Initialize")]);
        let error = Token::open(fixture.config()).await.unwrap_err();
        assert!(matches!(error, OpenError::NotStarted { .. }), "{error}");
        assert!(error.to_string().contains("check that its daemon or device runs"), "{error}");
    });
}

/// NSS answers `CKR_GENERAL_ERROR` where another token names the attribute.
#[test]
fn an_attribute_refused_with_an_ambiguous_code_is_left_out_and_remembered() {
    in_child_process(|fixture| async move {
        let refused = refused_bond();
        fixture.faults.rules(&refused);
        let token = fixture.open().await;
        generate_key(&token, Algorithm::P256, Purpose::Sign).await;
        let attempts = || fixture.faults.calls("C_GenerateKeyPair");
        let before = attempts();
        generate_key(&token, Algorithm::P256, Purpose::Sign).await;
        assert_eq!(attempts(), before + 1);
        let report = token.probe().await.pop().unwrap().1.unwrap();
        let works = |algorithm: &str| {
            let row = report.operations.iter().find(|probed| probed.algorithm == algorithm);
            row.unwrap().works == Works::Yes
        };
        assert!(works("RSA-3072") && works("AES-256") && works("HMAC-SHA256"), "{report:#?}");
        let weakness = "it does not support CKA_ALLOWED_MECHANISMS";
        assert!(report.weaknesses.iter().any(|it| it.contains(weakness)), "{report:#?}");
        token.close().await;
    });
}

/// Refuses the mechanisms that a key is bound to.
fn refused_bond() -> [Rule; 4] {
    ["C_GenerateKey", "C_GenerateKeyPair", "C_CreateObject", "C_UnwrapKey"]
        .map(|function| Fault::RefuseAttribute(CKA_ALLOWED_MECHANISMS).on(function))
}

/// openCryptoki 3.27 makes every unwrapped key readable and extractable, and accepts the stricter values later.
#[test]
fn an_unwrapped_key_is_protected_afterwards() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Loosen.on("C_UnwrapKey")]);
        let token = fixture.open().await;
        let key = import_wrapped(&token).await.unwrap();
        let adopted = token.adopt(key.name, Purpose::Data, Some(Algorithm::Aes256)).await.unwrap();
        assert_eq!(adopted.weaknesses.len(), 2, "only that it was outside: {adopted:?}");
        assert_eq!(wrapped_imports(&token).await, (6, 1));
        token.close().await;
    });
}

#[test]
fn doctor_does_not_call_an_import_working_that_leaves_keys_unprotected() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[
            Fault::Loosen.on("C_UnwrapKey"),
            Fault::Return(CKR_GENERAL_ERROR).on("C_SetAttributeValue"),
        ]);
        let token = fixture.open().await;
        let error = import_wrapped(&token).await.unwrap_err();
        assert!(error.contains("weaker than requested"), "{error}");
        assert_eq!(wrapped_imports(&token).await, (0, 7));
        token.close().await;
    });
}

/// Imports an AES key by the mechanism that SoftHSM has.
async fn import_wrapped(token: &Token) -> Result<hsm::KeyRef, String> {
    let import = generate_key(token, Algorithm::Rsa2048, Purpose::Import).await;
    let Some(PublicParts::Rsa { modulus, exponent }) = &import.public else {
        panic!("{import:?}");
    };
    let spki = PublicKeyComponents { n: modulus, e: exponent };
    let spki: aws_lc_rs::encoding::PublicKeyX509Der<'_> = spki.as_der().unwrap();
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let imported = token.import_wrapped(ImportWrapped {
        key: NewKey {
            id: id(),
            label: "imported".to_owned(),
            algorithm: Algorithm::Aes256,
            purpose: Purpose::Data,
        },
        import_key: import.key,
        mechanism,
        wrapped: wrap_for_import(spki.as_ref(), mechanism, &[7; 32]).unwrap(),
        public: None,
    });
    imported.await.map(|imported| imported.key).map_err(|error| error.to_string())
}

/// How many kinds of keys can be unwrapped according to the probe, and how many cannot.
async fn wrapped_imports(token: &Token) -> (usize, usize) {
    let report = token.probe().await.pop().unwrap().1.unwrap();
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp.name();
    let rows = report.imports.iter().filter(|probed| probed.operation == mechanism);
    let (works, missing): (Vec<_>, Vec<_>) = rows.partition(|probed| probed.works.at_all());
    (works.len(), missing.len())
}

#[test]
fn abilities_that_a_token_lacks_are_told_from_failures() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        for code in [CKR_CURVE_NOT_SUPPORTED, CKR_KEY_SIZE_RANGE, CKR_GENERAL_ERROR] {
            fixture.faults.rules(&[Fault::Return(code).on("C_GenerateKeyPair")]);
            let error = generate(&token, Algorithm::P256, Purpose::Sign).await.unwrap_err();
            assert!(error.lacks_ability(), "{code:#x}: {error:?}");
        }
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_GenerateKeyPair")]);
        let error = generate(&token, Algorithm::P256, Purpose::Sign).await.unwrap_err();
        assert!(!error.lacks_ability(), "{error:?}");
        token.close().await;
    });
}

/// openCryptoki 3.8.1 makes AES keys and has no AES-GCM.
#[test]
fn a_secret_key_without_an_operation_is_not_made() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        fixture.faults.rules(&[Fault::Return(CKR_MECHANISM_INVALID).on("C_EncryptInit")]);
        let before = token.inventory().await.unwrap().len();
        let error = generate(&token, Algorithm::Aes256, Purpose::Data).await.unwrap_err();
        assert!(error.lacks_ability(), "{error:?}");
        assert_eq!(token.inventory().await.unwrap().len(), before, "the key remains");
        token.close().await;
    });
}

async fn generate(
    token: &Token,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Result<hsm::Generated, hsm::HsmError> {
    token.generate(NewKey { id: id(), label: "for tests".to_owned(), algorithm, purpose }).await
}

#[test]
fn one_failing_operation_leaves_the_table_of_the_probe_whole() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let whole = token.probe().await.pop().unwrap().1.unwrap();
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_DeriveKey")]);
        let report = token.probe().await.pop().unwrap().1.unwrap();
        assert_eq!(report.operations.len(), whole.operations.len());
        assert_eq!(report.imports.len(), whole.imports.len());
        token.close().await;
    });
}

/// The token reports no limit and gives four sessions: two workers have one beside the anchor and the monitor.
#[test]
fn a_worker_without_a_session_takes_no_work_and_asks_again() {
    in_child_process(|fixture| async move {
        let limit = Fault::SessionLimit(4).on("C_OpenSession");
        fixture.faults.rules(std::slice::from_ref(&limit));
        let token = Token::open(Config { workers: 4, ..fixture.config() }).await.unwrap();
        let workers = || {
            let status = status(&token, "one");
            (status.workers, status.workers_configured)
        };
        wait_until("two workers have no session", || workers() == (2, 4)).await;
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        let callers: Vec<_> = (0..60)
            .map(|_| {
                let (token, key) = (token.clone(), key.clone());
                tokio::spawn(async move { token.hmac(&key, b"message").await })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        let report = token.probe().await.pop().unwrap().1.unwrap();
        assert!(report.broken.iter().any(|it| it.contains("gives 4")), "{:?}", report.broken);

        fixture.faults.rules(&[]);
        wait_until("all workers have a session", || workers() == (4, 4)).await;
        token.close().await;
    });
}

/// A daemon that is stopped and goes on later.
#[test]
fn a_stall_costs_no_process_and_ends_by_itself() {
    in_child_process(|fixture| async move {
        let config = Config { deadline: Duration::from_secs(1), ..fixture.config() };
        let token = Token::open(config).await.unwrap();
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        let stalled = [
            "C_SignInit",
            "C_Sign",
            "C_OpenSession",
            "C_CloseSession",
            "C_GetSessionInfo",
            "C_GetTokenInfo",
            "C_GetSlotList",
            "C_FindObjectsInit",
            "C_GenerateRandom",
        ];
        fixture.faults.rules(&stalled.map(|function| Fault::Hang.on(function)));
        wait_until("the token is out", || is_out(&status(&token, "one"))).await;
        let mut most = 0;
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_secs(8) {
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Late | ErrorKind::TokenOut), "{error:?}");
            most = most.max(status(&token, "one").hung);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(most <= 9, "{most} threads hang");
        fixture.faults.rules(&[]);
        let ended = std::time::Instant::now();
        wait_until("the token serves", || status(&token, "one").state == TokenState::Serving).await;
        assert!(ended.elapsed() < Duration::from_secs(2), "{:?}", ended.elapsed());
        token.hmac(&key, b"message").await.unwrap();
        wait_until("no thread hangs", || status(&token, "one").hung == 0).await;
        token.close().await;
    });
}

#[test]
fn a_token_that_does_not_answer_at_the_start_serves_as_soon_as_it_answers() {
    in_child_process(|fixture| async move {
        let config = Config { deadline: Duration::from_secs(1), ..fixture.config() };
        for outage in [
            Fault::Hang.on("C_GetSlotList"),
            Fault::Return(CKR_FUNCTION_FAILED).on("C_Initialize"),
            Fault::Return(CKR_DEVICE_ERROR).on("C_GetSlotList"),
        ] {
            fixture.faults.rules(&[outage]);
            let token = Token::open_when_reached(config.clone()).await.unwrap();
            assert!(is_out(&status(&token, "one")), "{:?}", status(&token, "one"));
            assert_eq!(token.random(8).await.unwrap_err().kind(), ErrorKind::TokenOut);
            fixture.faults.rules(&[]);
            let serves = || status(&token, "one").state == TokenState::Serving;
            wait_until("the token serves", serves).await;
            token.random(8).await.unwrap();
            token.close().await;
        }
    });
}

#[test]
fn a_wrong_setting_still_ends_the_start() {
    in_child_process(|fixture| async move {
        let mut config = fixture.config();
        config.tokens[0].select = TokenSelect::Label("other".to_owned());
        let error = Token::open_when_reached(config).await.unwrap_err();
        assert!(matches!(error, OpenError::NoSuchToken { .. }), "{error}");
        let mut config = fixture.config();
        config.tokens[0].pin = "wrong-pin".to_owned().into();
        let error = Token::open_when_reached(config).await.unwrap_err();
        assert!(error.is_pin_refusal(), "{error}");
    });
}

/// Remembers that the token has refused another PIN.
#[derive(Debug)]
struct RefusedOther(&'static str);

impl PinMemory for RefusedOther {
    fn begin(&self, _: &str, _: &str, pin: &SecretString) -> Result<PinAttempt, String> {
        let is_refused = pin.expose_secret() == self.0;
        let record = Box::new(|_| {});
        Ok(PinAttempt { is_refused, refused_another: !is_refused, record })
    }
}

#[test]
fn a_corrected_pin_is_tried_although_the_token_warns() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Flags(CKF_USER_PIN_COUNT_LOW).on("C_GetTokenInfo")]);
        let mut config = fixture.config();
        config.pin_memory = Some(Arc::new(RefusedOther("wrong-pin")));
        Token::open(config.clone()).await.unwrap().close().await;
        config.tokens[0].pin = "wrong-pin".to_owned().into();
        let logins = fixture.faults.calls("C_Login");
        let error = Token::open(config).await.unwrap_err();
        assert!(error.is_pin_refusal(), "{error}");
        assert_eq!(fixture.faults.calls("C_Login"), logins);
    });
}

/// Collects a record of calls.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_record_of_calls_has_every_call_and_no_secret() {
    in_child_processes(|fixture| async move {
        let (collected, mut config) = (Collected::default(), fixture.config());
        config.trace = Some(Arc::new(Trace::new(collected.clone())));
        let token = Token::open(config).await.unwrap();
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        token.hmac(&key, b"a message that is secret").await.unwrap();
        let pin = fixture.home.pin();
        token.close().await;
        let record = String::from_utf8(collected.0.lock().unwrap().clone()).unwrap();
        for call in
            ["C_Initialize", "C_Login", "C_GenerateKey", "C_SignInit", "C_Sign", "C_Finalize"]
        {
            assert!(record.contains(&format!(" {call} ")), "{call}:\n{record}");
        }
        let label = "for tests";
        for secret in [pin.as_str(), "a message that is secret", label, "sealward"] {
            assert!(!record.contains(secret), "{secret}:\n{record}");
        }
        let signs = record.lines().find(|line| line.contains(" C_Sign ")).unwrap();
        assert!(signs.contains("input[") && signs.contains("= OK"), "{signs}");
        let called = record.lines().count();
        assert!(called > 20, "{record}");
    });
}
