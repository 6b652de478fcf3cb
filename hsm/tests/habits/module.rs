//! How modules are loaded and describe their slots.

use cryptoki_sys::{CKR_DEVICE_ERROR, CKR_FUNCTION_FAILED};
use faulty_token::Fault;
use formats::algorithms::Algorithm;
use hsm::{OpenError, Purpose, Token};

use crate::support::{generate_key, in_child_process, in_child_processes};

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
