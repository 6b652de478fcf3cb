//! `sealward check-config` and the errors of invalid settings.

use std::fs;

use crate::process::{Process, Site};

#[tokio::test]
async fn settings_in_effect_are_shown_without_secrets() {
    let site = Site::new().await;
    let tokens = "[{ module = \"/m.so\", label = \"a\", pin = { value = \"settings-secret\" } }]";
    let shown = site
        .run_with(&["check-config"], "SEALWARD_HSM_TOKENS", tokens)
        .success()
        .stdout;
    assert!(shown.contains("environment = \"development\""), "{shown}");
    assert!(
        shown.contains("[redacted]") && !shown.contains("settings-secret"),
        "{shown}"
    );
    // The output is a valid settings file.
    fs::write(site.settings(), &shown).expect("write the settings");
    site.run(&["check-config"]).success();
}

#[tokio::test]
async fn an_unknown_setting_is_refused_with_the_nearest_name() {
    let site = Site::new().await;
    fs::write(site.settings(), "[hsm]\nworker = 3").expect("write the settings");
    site.run(&["check-config"]).failure(
        78,
        &["unknown setting hsm.worker: did you mean hsm.workers?"],
    );
    fs::write(site.settings(), "[hsm").expect("write the settings");
    site.run(&["check-config"])
        .failure(78, &["sealward.toml must be TOML"]);
    fs::remove_file(site.settings()).expect("remove the settings");
    site.run(&["check-config"])
        .failure(78, &["cannot read the settings in", "sealward.toml"]);
}

#[tokio::test]
async fn removed_settings_only_cause_a_warning_that_names_the_new_ones() {
    let site = Site::new().await;
    let old = "[audit]\nretention_days = 400\ndrop_retired = true\n";
    let owner = "owner_url = \"postgres://unknown@127.0.0.1:1/nothing\"\n\
                 owner_password = { file = \"/nowhere\" }\n";
    let settings = site
        .default_settings()
        .replace("[database]\n", &format!("[database]\n{owner}"));
    fs::write(site.settings(), settings + old).expect("write the settings");
    let warnings = [
        "database.owner_url is a removed setting: use migrate.url",
        "database.owner_password is a removed setting: use migrate.password",
        "audit.retention_days is a removed setting: use retain.days",
        "audit.drop_retired is a removed setting: use retain.drop",
    ];
    let shown = site.run(&["check-config"]).success();
    for warning in warnings {
        assert_eq!(shown.stderr.matches(warning).count(), 1, "{}", shown.stderr);
    }
    // The service neither reads the owner's password nor uses its login.
    let process = Process::start(&site).await;
    let log = process.log();
    for warning in warnings {
        assert_eq!(log.matches(warning).count(), 1, "{log}");
    }
    assert_eq!(process.terminate(), Some(0));
    site.run(&["migrate"])
        .failure(78, &["migrate.password", "/nowhere"]);
}
