//! Tokens that do not answer at the start, or warn.

use std::sync::Arc;
use std::time::Duration;

use cryptoki_sys::{CKF_USER_PIN_COUNT_LOW, CKR_DEVICE_ERROR, CKR_FUNCTION_FAILED};
use faulty_token::Fault;
use hsm::{Config, ErrorKind, OpenError, PinAttempt, PinMemory, Token, TokenSelect, TokenState};
use secrecy::{ExposeSecret as _, SecretString};

use crate::support::{in_child_process, is_out, status, wait_until};

#[test]
fn a_token_that_does_not_answer_at_the_start_serves_as_soon_as_it_answers() {
    in_child_process(|fixture| async move {
        let config = Config { deadline: Duration::from_secs(1), ..fixture.config() };
        // The thread of a call that hung can keep the module initialized for a while, so that outage is the last.
        for outage in [
            Fault::Return(CKR_FUNCTION_FAILED).on("C_Initialize"),
            Fault::Return(CKR_DEVICE_ERROR).on("C_GetSlotList"),
            Fault::Hang.on("C_GetSlotList"),
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
