//! Sealed files with data keys of the service.

use std::fs;
use std::time::Duration;

use sealward_client::{CacheLimits, Credential, Error, ErrorKind, FileError, Progress};
use testkit::Scratch;

use super::{Served, tenant};

#[tokio::test]
async fn a_file_comes_back_and_reports_its_progress() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let folder = Scratch::new();
    let [source, sealed, opened] = ["source", "sealed", "opened"].map(|it| folder.path().join(it));
    let content: Vec<u8> = (0..2_500_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    fs::write(&source, &content).unwrap();
    let mut seen = Vec::new();
    let progress = |progress: Progress| seen.push(progress.bytes);
    client.encrypt_file(&source, &sealed, &tenant("acme"), progress).await.unwrap();
    assert_eq!(seen, [1_048_520, 2_097_080, 2_500_000]);
    let length = client.decrypt_file(&sealed, &opened, &tenant("acme"), |_| ()).await.unwrap();
    assert_eq!(length, 2_500_000);
    assert!(fs::read(&opened).unwrap() == content);
}

#[tokio::test]
async fn a_failure_leaves_no_file() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let folder = Scratch::new();
    let [source, sealed, opened] = ["source", "sealed", "opened"].map(|it| folder.path().join(it));
    fs::write(&source, vec![1; 1_100_000]).unwrap();
    client.encrypt_file(&source, &sealed, &tenant("acme"), |_| ()).await.unwrap();
    let error = client.decrypt_file(&sealed, &opened, &tenant("other"), |_| ()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::DecryptionFailed);

    let mut content = fs::read(&sealed).unwrap();
    content.pop();
    fs::write(&sealed, content).unwrap();
    let error = client.decrypt_file(&sealed, &opened, &tenant("acme"), |_| ()).await.unwrap_err();
    assert!(matches!(error, Error::File(FileError::NotAuthentic)), "{error}");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["sealed", "source"]);
}

#[tokio::test]
async fn cached_data_keys_save_calls() {
    let served = Served::new().await;
    let (_, key) = served.bound_key().await;
    let limits =
        CacheLimits { max_age: Duration::from_secs(60), max_messages: 10, max_bytes: 1 << 20 };
    let builder = served.builder().credential(Credential::api_key(key)).cache_data_keys(limits);
    let client = builder.build().unwrap();
    let folder = Scratch::new();
    let [source, opened] = ["source", "opened"].map(|name| folder.path().join(name));
    fs::write(&source, b"short").unwrap();
    for number in 0..10 {
        let sealed = folder.path().join(number.to_string());
        client.encrypt_file(&source, &sealed, &tenant("acme"), |_| ()).await.unwrap();
        client.decrypt_file(&sealed, &opened, &tenant("acme"), |_| ()).await.unwrap();
        assert_eq!(fs::read(&opened).unwrap(), b"short");
    }
    let counters = client.data_key_counters();
    assert_eq!((counters.misses, counters.hits), (2, 18));
}
