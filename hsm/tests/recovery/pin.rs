//! PIN handling. Real tokens lock themselves after a few wrong PINs.

use std::sync::{Arc, Mutex};

use cryptoki_sys::{
    CK_FLAGS, CK_RV, CKF_USER_PIN_COUNT_LOW, CKF_USER_PIN_FINAL_TRY, CKF_USER_PIN_LOCKED,
    CKR_DEVICE_ERROR, CKR_PIN_INCORRECT, CKR_PIN_LOCKED,
};
use faulty_token::Fault;
use hsm::{ErrorKind, OpenError, PinAttempt, PinMemory, Token, TokenState};
use secrecy::{ExposeSecret as _, SecretString};

use super::{WORKER, hmac_key};
use crate::support::{in_child_process, in_child_processes, status, wait_until};

#[test]
fn a_wrong_pin_is_tried_exactly_once() {
    in_child_processes(|fixture| async move {
        let mut config = fixture.config();
        config.tokens[0].pin = "wrong-pin".to_owned().into();
        let error = Token::open(config).await.unwrap_err();
        assert!(matches!(&error, OpenError::PinRefused { token } if token == "one"), "{error}");
        assert!(error.is_pin_refusal());
        assert_eq!(fixture.faults.calls("C_Login"), 1);
    });
}

#[test]
fn a_pin_on_its_last_try_or_locked_is_not_tried() {
    in_child_process(|fixture| async move {
        let refused = async |flags: CK_FLAGS| {
            fixture.faults.rules(&[Fault::Flags(flags).on("C_GetTokenInfo")]);
            Token::open(fixture.config()).await.unwrap_err()
        };
        let error = refused(CKF_USER_PIN_COUNT_LOW | CKF_USER_PIN_FINAL_TRY).await;
        assert!(matches!(&error, OpenError::PinLastTry { .. }), "{error}");
        assert!(error.is_pin_refusal());
        let error = refused(CKF_USER_PIN_LOCKED).await;
        assert!(matches!(&error, OpenError::PinLocked { .. }), "{error}");
        assert!(error.is_pin_refusal());
        assert_eq!(fixture.faults.calls("C_Login"), 0);
    });
}

#[test]
fn after_a_wrong_pin_only_an_operator_can_allow_another_attempt() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Flags(CKF_USER_PIN_COUNT_LOW).on("C_GetTokenInfo")]);
        let error = Token::open(fixture.config()).await.unwrap_err();
        assert!(matches!(&error, OpenError::PinCountLow { .. }), "{error}");
        assert!(error.is_pin_refusal());
        assert!(error.to_string().contains("hsm.tokens.retry_pin"));
        assert_eq!(fixture.faults.calls("C_Login"), 0);

        let mut config = fixture.config();
        config.tokens[0].retry_pin = true;
        let token = Token::open(config).await.unwrap();
        hmac_key(&token).await;
        assert_eq!(fixture.faults.calls("C_Login"), 1);
        token.close().await;
    });
}

/// SoftHSM sets the warning after one wrong PIN and keeps it in the token.
#[test]
fn a_wrong_pin_stops_the_next_process() {
    in_child_process(|fixture| async move {
        if fixture.is_dying_process() {
            let mut config = fixture.config();
            config.tokens[0].pin = "wrong-pin".to_owned().into();
            Token::open(config).await.unwrap_err();
            return;
        }
        assert!(fixture.run_dying_process().success());
        let error = Token::open(fixture.config()).await.unwrap_err();
        assert!(matches!(&error, OpenError::PinCountLow { .. }), "{error}");
        assert_eq!(fixture.faults.calls("C_Login"), 1, "the call of the other process");
    });
}

#[test]
fn a_pin_warning_does_not_affect_a_logged_in_process() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[
            Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1),
            Fault::Flags(CKF_USER_PIN_COUNT_LOW).on("C_GetTokenInfo"),
        ]);
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(status(&token, "one").state, TokenState::Serving);
        token.close().await;
    });
}

#[test]
fn a_pin_refused_at_a_later_login_is_never_tried_again() {
    in_child_process(|fixture| async move {
        for code in [CKR_PIN_INCORRECT, CKR_PIN_LOCKED] {
            later_login_refused(&fixture, code).await;
        }
    });
}

/// A memory of refused PINs in this process.
#[derive(Clone, Debug, Default)]
struct Memory {
    refused: Arc<Mutex<Vec<String>>>,
    is_unreadable: bool,
}

impl PinMemory for Memory {
    fn begin(&self, _: &str, _: &str, pin: &SecretString) -> Result<PinAttempt, String> {
        if self.is_unreadable {
            return Err("no answer".to_owned());
        }
        let (refused, pin) = (Arc::clone(&self.refused), pin.expose_secret().to_owned());
        let (is_refused, refused_another) = {
            let refused = refused.lock().unwrap();
            (refused.contains(&pin), refused.iter().any(|other| *other != pin))
        };
        let record = move |accepted| {
            let mut refused = refused.lock().unwrap();
            match accepted {
                true => refused.clear(),
                false => refused.push(pin),
            }
        };
        Ok(PinAttempt { is_refused, refused_another, record: Box::new(record) })
    }
}

#[test]
fn a_pin_refused_at_a_later_login_is_remembered() {
    in_child_process(|fixture| async move {
        let memory = Memory::default();
        let mut config = fixture.config();
        config.pin_memory = Some(Arc::new(memory.clone()));
        let token = Token::open(config.clone()).await.unwrap();
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[
            Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1),
            Fault::Return(CKR_PIN_INCORRECT).on("C_Login"),
        ]);
        token.hmac(&key, b"message").await.unwrap_err();
        wait_until("the token is given up", || {
            matches!(status(&token, "one").state, TokenState::PinRefused { .. })
        })
        .await;
        token.close().await;
        assert_eq!(memory.refused.lock().unwrap().len(), 1);

        fixture.faults.rules(&[]);
        let logins = fixture.faults.calls("C_Login");
        let error = Token::open(config).await.unwrap_err();
        let is_known = matches!(&error, OpenError::PinRefusedBefore { .. });
        assert!(is_known && error.is_pin_refusal(), "{error}");
        assert_eq!(fixture.faults.calls("C_Login"), logins);
    });
}

#[test]
fn a_pin_is_not_tried_while_the_memory_cannot_be_read() {
    in_child_process(|fixture| async move {
        let mut config = fixture.config();
        config.pin_memory = Some(Arc::new(Memory { is_unreadable: true, ..Memory::default() }));
        let error = Token::open(config).await.unwrap_err();
        assert!(matches!(&error, OpenError::Broken { .. }), "{error}");
        assert_eq!(fixture.faults.calls("C_Login"), 0);
    });
}

async fn later_login_refused(fixture: &crate::support::Fixture, code: CK_RV) {
    fixture.faults.rules(&[]);
    let token = fixture.open().await;
    let key = hmac_key(&token).await;
    let logins = fixture.faults.calls("C_Login");
    fixture.faults.rules(&[
        Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1),
        Fault::Return(code).on("C_Login"),
    ]);
    let error = token.hmac(&key, b"message").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TokenOut, "{error:?}");
    wait_until("the token is given up", || {
        matches!(status(&token, "one").state, TokenState::PinRefused { .. })
    })
    .await;
    // Also if the token would accept the PIN.
    fixture.faults.rules(&[]);
    for _ in 0..50 {
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
    }
    assert_eq!(fixture.faults.calls("C_Login"), logins + 1);
    token.close().await;
}

#[test]
fn a_login_that_fails_for_another_reason_is_tried_again() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[
            Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1),
            Fault::Return(CKR_DEVICE_ERROR).on("C_Login"),
        ]);
        token.hmac(&key, b"message").await.unwrap_err();
        wait_until("the login is repeated", || fixture.faults.calls("C_Login") > 4).await;
        fixture.faults.rules(&[]);
        wait_until("the token serves again", || status(&token, "one").state == TokenState::Serving)
            .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}
