//! `sealward check-config` and the errors of invalid settings.

use std::fs;

use testkit::Site;

#[tokio::test]
async fn settings_in_effect_are_shown_without_secrets() {
    let site = Site::new().await;
    let tokens = "[{ module = \"/m.so\", label = \"a\", pin = { value = \"settings-secret\" } }]";
    let shown = site.run_with(&["check-config"], "SEALWARD_HSM_TOKENS", tokens).success().stdout;
    assert!(shown.contains("environment = \"development\""), "{shown}");
    assert!(shown.contains("[redacted]") && !shown.contains("settings-secret"), "{shown}");
    // The output is a valid settings file.
    fs::write(site.settings(), &shown).expect("write the settings");
    site.run(&["check-config"]).success();
}

#[tokio::test]
async fn an_unknown_setting_is_refused_with_the_nearest_name() {
    let site = Site::new().await;
    fs::write(site.settings(), "[hsm]\nworker = 3").expect("write the settings");
    site.run(&["check-config"])
        .failure(78, &["unknown setting hsm.worker: did you mean hsm.workers?"]);
    fs::write(site.settings(), "[hsm").expect("write the settings");
    site.run(&["check-config"]).failure(78, &["sealward.toml must be TOML"]);
    fs::remove_file(site.settings()).expect("remove the settings");
    site.run(&["check-config"]).failure(78, &["cannot read the settings in", "sealward.toml"]);
}

#[tokio::test]
async fn a_floor_of_another_strength_or_with_an_unknown_name_ends_the_start() {
    let site = Site::new().await;
    for command in ["check-config", "serve"] {
        site.run_with(&[command], "SEALWARD_CRYPTO_MINIMUM_STRENGTH", "80")
            .failure(78, &["crypto.minimum_strength must be 112, 128 or 192"]);
        site.run_with(&[command], "SEALWARD_CRYPTO_FORBIDDEN", r#"["SHA-256", "RSA-OEAP"]"#)
            .failure(
                78,
                &["unknown algorithm RSA-OEAP in crypto.forbidden: did you mean RSA-OAEP?"],
            );
    }
    let names = r#"["RSA-2048", "A128GCM", "ECDH-ES+A128KW", "RSA-SHA256", "SHA-256"]"#;
    site.run_with(&["check-config"], "SEALWARD_CRYPTO_FORBIDDEN", names).success();
}
