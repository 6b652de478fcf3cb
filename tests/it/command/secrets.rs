//! Secrets from files, systemd credentials and programs.

use std::fs;

use testkit::softhsm_module;
use testkit::{Process, Site};

#[tokio::test]
async fn a_pin_comes_from_a_credential_or_from_a_program() {
    let site = Site::new().await;
    site.admin_key();
    let credentials = site.file("credentials");
    fs::create_dir(&credentials).expect("a folder");
    let credential = credentials.join("hsm-pin");
    fs::rename(site.pin_file(), &credential).expect("move the PIN");
    let pin = fs::read_to_string(&credential).expect("the PIN");
    for source in [
        "{ credential = \"hsm-pin\" }".to_owned(),
        format!("{{ command = [\"cat\", \"{}\"] }}", credential.display()),
    ] {
        let settings = site.default_settings();
        let (before, _) = settings.split_once("pin = ").expect("a PIN");
        fs::write(site.settings(), format!("{before}pin = {source}\n")).expect("write");
        let folder = credentials.to_str().expect("a path of text");
        let process = Process::start_with(&site, &[("CREDENTIALS_DIRECTORY", folder)]).await;
        let arguments = format!("/proc/{}/cmdline", process.id());
        let arguments = fs::read_to_string(arguments).expect("its arguments");
        assert!(arguments.contains("serve") && !arguments.contains(pin.trim()));
        assert_eq!(process.terminate(), Some(0));
    }
}

#[tokio::test]
async fn an_unavailable_secret_is_reported() {
    let site = Site::new().await;
    let cases = [
        ("{ credential = \"hsm-pin\" }", "LoadCredential="),
        ("{ command = [\"false\"] }", "\"false\" failed"),
        ("{ command = [] }", "the list is empty"),
        ("{ command = [\"true\"] }", "the secret is empty"),
    ];
    for (source, expected) in cases {
        let module = softhsm_module();
        let tokens = format!(
            "[{{ module = \"{}\", label = \"sealward\", pin = {source} }}]",
            module.display()
        );
        site.run_with(&["serve"], "SEALWARD_HSM_TOKENS", &tokens)
            .failure(78, &["hsm.tokens[0].pin", expected]);
    }
}
