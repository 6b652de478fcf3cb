//! The record of calls.

use std::sync::{Arc, Mutex};

use formats::algorithms::Algorithm;
use hsm::{Purpose, Token, Trace};

use crate::support::{generate_key, in_child_processes};

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
        for call in [
            "C_GetFunctionList",
            "C_Initialize",
            "C_Login",
            "C_GenerateKey",
            "C_SignInit",
            "C_Sign",
            "C_Finalize",
        ] {
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
