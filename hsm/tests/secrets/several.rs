//! Two tokens.

use cryptoki::object::{Attribute, KeyType};
use cryptoki_sys::CKR_DEVICE_REMOVED;
use faulty_token::Fault;
use hsm::{ErrorKind, InternalSecret, SecretMethod, Token, TokenState};

use super::{copied, id_of, parts, session_on};
use crate::support::{in_child_processes, is_out, status, wait_until};

#[test]
fn each_token_answers_for_itself() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let made = token.make_internal_secret(1).await.unwrap();
        let [one, two] = each(&token).await;
        // One token made the key, and the other lacks it until a tool of the vendor copies it.
        let (holder, without) = if one.is_empty() { ("two", "one") } else { ("one", "two") };
        assert_eq!([one, two].concat(), [parts(&made)]);

        // Writes take turns, so that the next one would be on the other token.
        let error = token.make_internal_secret(1).await.unwrap_err();
        assert_eq!((error.kind(), error.token()), (ErrorKind::Refused, Some(holder)));
        let key = copied(KeyType::GENERIC_SECRET, 1, &[7; 32]);
        session_on(without).create_object(&key).unwrap();
        let [one, two] = each(&token).await;
        assert_eq!((one.len(), two.len()), (1, 1));
        assert_ne!(one, two);

        token.destroy_internal_secret(1).await.unwrap();
        assert_eq!(each(&token).await, [[], []]);
        for label in ["one", "two"] {
            let name = [Attribute::Id(id_of(1))];
            assert_eq!(session_on(label).find_objects(&name).unwrap(), []);
        }
        let missing = token.destroy_internal_secret(1).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::KeyMissing, "{missing:?}");
        token.close().await;
    });
}

#[test]
fn a_token_that_is_out_fails_in_its_place() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let made = token.make_internal_secret(1).await.unwrap();
        let holder = if each(&token).await[0].is_empty() { "two" } else { "one" };
        for out in ["one", "two"] {
            let missing = ["C_GetTokenInfo", "C_OpenSession", "C_SignInit"]
                .map(|function| Fault::Return(CKR_DEVICE_REMOVED).on(function).token(out));
            fixture.faults.rules(&missing);
            wait_until("the token is out", || is_out(&status(&token, out))).await;
            let answers = token.internal_secrets().await;
            assert_eq!(answers.len(), 2);
            for ((label, answer), expected) in answers.iter().zip(["one", "two"]) {
                assert_eq!(label, expected);
                match answer {
                    Err(error) => {
                        assert_eq!((error.kind(), label.as_str()), (ErrorKind::TokenOut, out));
                    }
                    Ok(secrets) if label == holder => {
                        assert_eq!(comparable(secrets), [parts(&made)]);
                    }
                    Ok(secrets) => assert!(secrets.is_empty() && label != out),
                }
            }
            // The token that is out may hold the key.
            for outcome in [
                token.make_internal_secret(2).await.map(drop),
                token.destroy_internal_secret(3).await,
            ] {
                assert_eq!(outcome.unwrap_err().kind(), ErrorKind::TokenOut);
            }
            fixture.faults.rules(&[]);
            wait_until("the token recovers", || !is_out(&status(&token, out))).await;
        }
        token.close().await;
    });
}

/// The secrets of both tokens.
async fn each(token: &Token) -> [Vec<(u32, SecretMethod, Vec<u8>)>; 2] {
    let answers = token.internal_secrets().await;
    let secrets = answers.into_iter().map(|(_, answer)| comparable(&answer.unwrap()));
    secrets.collect::<Vec<_>>().try_into().unwrap()
}

fn comparable(secrets: &[InternalSecret]) -> Vec<(u32, SecretMethod, Vec<u8>)> {
    secrets.iter().map(parts).collect()
}

#[test]
fn an_excluded_token_derives_secrets_and_serves_nothing_else() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        token.make_internal_secret(1).await.unwrap();
        let before = each(&token).await;
        token.exclude(0, Some("another key".to_owned()));
        let reason = "another key".to_owned();
        assert_eq!(status(&token, "one").state, TokenState::Out { reason });
        let operations = status(&token, "one").counters.operations;
        for _ in 0..10 {
            token.random(8).await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.operations, operations);
        for outcome in [
            token.inventory().await.map(drop),
            token.make_internal_secret(2).await.map(drop),
            token.destroy_internal_secret(1).await,
        ] {
            let error = outcome.unwrap_err();
            assert_eq!((error.kind(), error.token()), (ErrorKind::TokenOut, Some("one")));
        }
        assert_eq!(each(&token).await, before);

        token.exclude(1, Some("another key".to_owned()));
        assert_eq!(token.random(8).await.unwrap_err().kind(), ErrorKind::TokenOut);
        token.exclude(0, None);
        token.exclude(1, None);
        assert_eq!(status(&token, "one").state, TokenState::Serving);
        token.inventory().await.unwrap();
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}
