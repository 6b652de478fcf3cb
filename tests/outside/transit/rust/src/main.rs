//! vaultrs: its Transit calls, its log-ins and its errors. It parses answers strictly.

use std::env;

use vaultrs::api::transit::KeyType;
use vaultrs::api::transit::requests::{DataKeyType, VerifySignedDataRequest};
use vaultrs::auth::{approle, kubernetes};
use vaultrs::client::{Client as _, VaultClient, VaultClientSettingsBuilder};
use vaultrs::error::ClientError;
use vaultrs::{sys, token, transit};

const MOUNT: &str = "transit";
const CARD: &str = "Y2FyZA==";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ClientError> {
    let mut client = connect(&variable("VAULT_TOKEN"))?;
    encryption(&client).await?;
    signatures(&client).await?;
    keys(&client).await?;
    log_ins(&mut client).await
}

fn variable(name: &str) -> String {
    env::var(name).expect(name)
}

fn connect(token: &str) -> Result<VaultClient, ClientError> {
    let settings = VaultClientSettingsBuilder::default().token(token).build();
    VaultClient::new(settings.expect("settings"))
}

async fn encryption(client: &VaultClient) -> Result<(), ClientError> {
    let sealed = transit::data::encrypt(client, MOUNT, "data", CARD, None).await?.ciphertext;
    let again = transit::data::rewrap(client, MOUNT, "data", &sealed, None).await?.ciphertext;
    assert_ne!(sealed, again);
    assert_eq!(transit::data::decrypt(client, MOUNT, "data", &again, None).await?.plaintext, CARD);
    let key = transit::generate::data_key(client, MOUNT, "data", DataKeyType::Plaintext, None).await?;
    let opened = transit::data::decrypt(client, MOUNT, "data", &key.ciphertext, None).await?;
    assert_eq!(Some(opened.plaintext), key.plaintext);
    Ok(())
}

async fn signatures(client: &VaultClient) -> Result<(), ClientError> {
    for name in ["ec", "ed", "rsa"] {
        let signature = transit::data::sign(client, MOUNT, name, CARD, None).await?.signature;
        let mut with = VerifySignedDataRequest::builder();
        with.signature(signature);
        assert!(transit::data::verify(client, MOUNT, name, CARD, Some(&mut with)).await?.valid, "{name}");
    }
    let mac = transit::generate::hmac(client, MOUNT, "mac", CARD, None).await?.hmac;
    let mut with = VerifySignedDataRequest::builder();
    with.hmac(mac);
    assert!(transit::data::verify(client, MOUNT, "mac", CARD, Some(&mut with)).await?.valid);
    Ok(())
}

async fn keys(client: &VaultClient) -> Result<(), ClientError> {
    let read = transit::key::read(client, MOUNT, "ec").await?;
    assert!(matches!(read.key_type, KeyType::EcdsaP256));
    assert!(transit::key::list(client, MOUNT).await?.keys.contains(&"data".to_owned()));
    let missing = transit::key::read(client, MOUNT, "missing").await;
    assert!(matches!(missing, Err(ClientError::APIError { code: 404, .. })), "{missing:?}");
    Ok(())
}

async fn log_ins(client: &mut VaultClient) -> Result<(), ClientError> {
    let (role, secret) = (variable("VAULT_ROLE_ID"), variable("VAULT_SECRET_ID"));
    let application = approle::login(client, "approle", &role, &secret).await?;
    let workload = kubernetes::login(client, "kubernetes", "app", &variable("VAULT_JWT")).await?;
    for login in [application, workload] {
        client.set_token(&login.client_token);
        encryption(client).await?;
        assert!(token::lookup_self(client).await?.ttl > 0);
        token::renew_self(client, None).await?;
    }
    assert!(!sys::health(client).await?.sealed);
    Ok(())
}
