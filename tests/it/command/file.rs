//! `sealward file`.

use super::client_site::ClientSite;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_back() {
    let site = ClientSite::new().await;
    let content: Vec<u8> = (0..1_500_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    site.write("archive", &content);
    let context = ["--context", "file=archive"];
    let encrypt = [&["file", "encrypt", "archive", "sealed"], &context[..]].concat();
    let encrypted = site.run(&encrypt).success();
    assert_eq!(encrypted.stderr, "", "no progress without a terminal");
    site.run(&[&["file", "decrypt", "sealed", "restored"], &context[..]].concat()).success();
    assert!(site.read("restored") == content);
    site.run(&["file", "decrypt", "sealed", "wrong"]).failure(1, &["repeating does not help"]);
    assert_eq!(site.files(), ["archive", "restored", "sealed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_and_output_are_files_too() {
    let site = ClientSite::new().await;
    let sealed = site.bytes_of(&["file", "encrypt", "-", "-"], b"content");
    assert!(sealed.stdout.starts_with(b"{\"protected\":"), "{sealed:?}");
    let opened = site.run_with(&["file", "decrypt", "-", "-"], &sealed.stdout).success();
    assert_eq!(opened.stdout, "content");
    site.run_with(&["file", "decrypt", "-", "restored"], &sealed.stdout).success();
    assert_eq!(site.read("restored"), b"content");
    site.run_with(&["file", "encrypt", "-", "sealed"], b"content").success();
    let opened = site.run(&["file", "decrypt", "sealed", "-"]).success();
    assert_eq!(opened.stdout, "content");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_and_an_existing_target_are_refused() {
    let site = ClientSite::new().await;
    site.write("plain", "content");
    site.run(&["file", "encrypt", "plain", "sealed"]).success();
    site.run(&["file", "encrypt", "plain", "sealed"]).failure(1, &["--force replaces it"]);
    site.run(&["file", "encrypt", "plain", "sealed", "--force"]).success();
    let mut content = site.read("sealed");
    *content.last_mut().unwrap() ^= 1;
    site.write("changed", &content);
    site.run(&["file", "decrypt", "changed", "opened"])
        .failure(1, &["the file is not authentic or not complete"]);
    site.run(&["file", "decrypt", "plain", "opened"]).failure(1, &["this is not a sealed file"]);
    assert_eq!(site.files(), ["changed", "plain", "sealed"]);
}
