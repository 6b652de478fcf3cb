//! `sealward check-config`, and what is said of wrong settings.

use std::fs;

use crate::process::{Process, Site};

#[tokio::test]
async fn settings_in_effect_are_shown_without_secrets() {
    let site = Site::new().await;
    let tokens = "[{ module = \"/m.so\", label = \"a\", pin = { value = \"tell-no-one\" } }]";
    let shown = site
        .run_with(&["check-config"], "SEALWARD_HSM_TOKENS", tokens)
        .well()
        .out;
    assert!(shown.contains("environment = \"development\""), "{shown}");
    assert!(
        shown.contains("[redacted]") && !shown.contains("tell-no-one"),
        "{shown}"
    );
    // What is shown can be read back.
    fs::write(site.settings(), &shown).expect("write the settings");
    site.run(&["check-config"]).well();
}

#[tokio::test]
async fn an_unknown_setting_is_refused_with_the_nearest_name() {
    let site = Site::new().await;
    fs::write(site.settings(), "[hsm]\nworker = 3").expect("write the settings");
    site.run(&["check-config"]).badly(
        78,
        &["unknown setting hsm.worker: did you mean hsm.workers?"],
    );
    fs::write(site.settings(), "[hsm").expect("write the settings");
    site.run(&["check-config"])
        .badly(78, &["sealward.toml must be TOML"]);
    fs::remove_file(site.settings()).expect("remove the settings");
    site.run(&["check-config"])
        .badly(78, &["cannot read the settings in", "sealward.toml"]);
}

#[tokio::test]
async fn removed_settings_only_cause_a_warning_that_names_the_new_ones() {
    let site = Site::new().await;
    let old = "[audit]\nretention_days = 400\ndrop_retired = true\n";
    let owner = "owner_url = \"postgres://nobody@127.0.0.1:1/nothing\"\n\
                 owner_password = { file = \"/nowhere\" }\n";
    let settings = site
        .sound()
        .replace("[database]\n", &format!("[database]\n{owner}"));
    fs::write(site.settings(), settings + old).expect("write the settings");
    let warnings = [
        "database.owner_url is a removed setting: use migrate.url",
        "database.owner_password is a removed setting: use migrate.password",
        "audit.retention_days is a removed setting: use retain.days",
        "audit.drop_retired is a removed setting: use retain.drop",
    ];
    let shown = site.run(&["check-config"]).well();
    for warning in warnings {
        assert_eq!(shown.err.matches(warning).count(), 1, "{}", shown.err);
    }
    // The service neither reads the owner's password nor uses its login.
    let process = Process::start(&site).await;
    let log = process.log();
    for warning in warnings {
        assert_eq!(log.matches(warning).count(), 1, "{log}");
    }
    assert_eq!(process.told_to_end(), Some(0));
    site.run(&["migrate"])
        .badly(78, &["migrate.password", "/nowhere"]);
}
