//! Tests of reading settings.

use super::*;

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::from_variables(variables.iter().map(|(name, value)| (name.into(), value.into())))
}

fn with(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::load(None, &environment(variables))
}

fn refusals(variables: &[(&str, &str)]) -> Vec<String> {
    match with(variables) {
        Err(SettingsError::Refused(refused)) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn defaults_are_production_on_loopback() {
    let settings = with(&[]).unwrap();
    assert_eq!(settings.environment, crate::settings::Stage::Production);
    assert!(settings.http.listen.ip().is_loopback());
    assert!(!settings.plaintext_import_allowed());
}

#[test]
fn variables_can_set_every_kind_of_setting() {
    let settings = with(&[
        ("SEALWARD_ENVIRONMENT", "development"),
        ("SEALWARD_HTTP_LISTEN", "127.0.0.1:9000"),
        ("SEALWARD_LIMITS_MAX_BODY_BYTES", "2048"),
        ("SEALWARD_HSM_CANARY_INTERVAL", "1s"),
        ("SEALWARD_HSM_TOKENS", r#"[{ module = "/m.so", label = "a", pin = { file = "/pin" } }]"#),
        ("SEALWARD_DATABASE_PASSWORD", r#"{ file = "/password" }"#),
        ("SEALWARD_TEST_POSTGRES", "not a setting"),
    ])
    .unwrap();
    assert_eq!(settings.http.listen.port(), 9000);
    assert_eq!(settings.limits.max_body_bytes, 2048);
    assert_eq!(settings.hsm.canary_interval, crate::settings::Span::seconds(1));
    assert_eq!(settings.hsm.tokens.len(), 1);
    assert!(settings.plaintext_import_allowed());
}

#[test]
fn variables_with_the_suffix_file_name_the_file_of_a_secret() {
    let settings = with(&[
        ("SEALWARD_DATABASE_PASSWORD_FILE", "/run/secrets/database"),
        ("SEALWARD_AUDIT_FORWARD_URL", "https://siem.internal"),
        ("SEALWARD_AUDIT_FORWARD_SECRET_FILE", "/run/secrets/siem"),
    ])
    .unwrap();
    let shown = toml::to_string(&settings).unwrap();
    for source in [
        "[database.password]\nfile = \"/run/secrets/database\"",
        "[audit.forward.secret]\nfile = \"/run/secrets/siem\"",
    ] {
        assert!(shown.contains(source), "{shown}");
    }
    let source = r#"{ credential = "database" }"#;
    assert_eq!(
        refusals(&[
            ("SEALWARD_DATABASE_PASSWORD", source),
            ("SEALWARD_DATABASE_PASSWORD_FILE", "/run/secrets/database"),
            ("SEALWARD_DATABASE_URL_FILE", "/run/secrets/url"),
        ]),
        [
            "SEALWARD_DATABASE_PASSWORD_FILE and SEALWARD_DATABASE_PASSWORD must not both be set",
            "unknown setting SEALWARD_DATABASE_URL_FILE: did you mean SEALWARD_DATABASE_URL?",
        ]
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_known_one() {
    assert_eq!(
        refusals(&[("SEALWARD_HTTP_LISTN", "x"), ("SEALWARD_QQQ", "x")]),
        [
            "unknown setting SEALWARD_HTTP_LISTN: did you mean SEALWARD_HTTP_LISTEN?",
            "unknown setting SEALWARD_QQQ"
        ]
    );
    let table = "[hsm]\nworker = 1\n[[hsm.tokens]]\nmodul = 1".parse().unwrap();
    assert_eq!(
        names::unknown(&table, &names::schema()),
        [
            "unknown setting hsm.tokens[0].modul: did you mean hsm.tokens[0].module?",
            "unknown setting hsm.worker: did you mean hsm.workers?"
        ]
    );
}

#[test]
fn variables_of_kubernetes_services_are_ignored_and_near_misses_refused() {
    let links = [
        ("SEALWARD_SERVICE_HOST", "10.0.0.7"),
        ("SEALWARD_SERVICE_PORT", "8443"),
        ("SEALWARD_SERVICE_PORT_HTTPS", "8443"),
        ("SEALWARD_PORT", "tcp://10.0.0.7:8443"),
        ("SEALWARD_PORT_8080_TCP", "tcp://10.0.0.7:8080"),
        ("SEALWARD_PORT_8080_TCP_ADDR", "10.0.0.7"),
        ("SEALWARD_PORT_8080_TCP_PORT", "8080"),
        ("SEALWARD_PORT_8080_TCP_PROTO", "tcp"),
        ("SEALWARD_METRICS_SERVICE_HOST", "10.0.0.8"),
        ("SEALWARD_METRICS_PORT", "tcp://10.0.0.8:9464"),
        ("SEALWARD_METRICS_PORT_9464_TCP_ADDR", "10.0.0.8"),
    ];
    with(&links).unwrap();
    let ignored = environment(&links);
    let named = |name: &&str| *name != "SEALWARD_PORT";
    let expected: Vec<_> = links.iter().map(|(name, _)| *name).filter(named).collect();
    assert_eq!(ignored.ignored(), expected);
    for near_miss in [
        ("SEALWARD_HTTP_PORT", "8080"),
        ("SEALWARD_PORT_HTTP", "8080"),
        ("SEALWARD_SERVICE_NAME", "sealward"),
        ("SEALWARD_HTTP_LISTN", "tcp://10.0.0.7:8080"),
    ] {
        assert_eq!(refusals(&[near_miss]).len(), 1, "{near_miss:?}");
    }
    for leaf in names::leaves(&names::schema()) {
        let name = leaf.variable();
        assert!(!is_service_link(&name, "tcp://10.0.0.7:1"), "{name}");
    }
}

#[test]
fn all_unsafe_settings_are_reported_at_once_in_production() {
    let refused = refusals(&[
        ("SEALWARD_HTTP_LISTEN", "0.0.0.0:8080"),
        ("SEALWARD_DATABASE_URL", "postgres://u:secret@h/d"),
        ("SEALWARD_HSM_ALLOW_RAW_RSA", "true"),
        ("SEALWARD_HSM_TOKENS", r#"[{ module = "/m.so", pin = { value = "1234" } }]"#),
    ]);
    assert_eq!(refused.len(), 5, "{refused:#?}");
    assert!(refused.iter().all(|line| !line.contains("secret") && !line.contains("1234")));
}

#[test]
fn a_time_limit_that_is_too_short_is_refused() {
    for name in [
        "AUDIT_DEADLINE",
        "DATABASE_CONNECT_TIMEOUT",
        "HSM_CANARY_INTERVAL",
        "HSM_DEADLINE",
        "HSM_GENERATE_DEADLINE",
        "HTTP_HEADER_TIMEOUT",
        "HTTP_IDLE_TIMEOUT",
        "LIMITS_REQUEST_TIMEOUT",
    ] {
        let (section, setting) = name.split_once('_').unwrap();
        let setting = format!("{section}.{setting}").to_lowercase();
        assert_eq!(
            refusals(&[(&*format!("{PREFIX}{name}"), "0s")]),
            [format!("{setting} must be at least 100ms")]
        );
    }
}

#[test]
fn keys_are_not_destroyed_within_a_day_in_production() {
    let delay = |delay| ("SEALWARD_KEYS_DESTRUCTION_DELAY", delay);
    with(&[delay("24h")]).unwrap();
    assert_eq!(
        refusals(&[delay("23h 59m")]),
        ["keys.destruction_delay must be at least 24h in production"]
    );
    with(&[delay("1s"), ("SEALWARD_ENVIRONMENT", "staging")]).unwrap();
}

#[test]
fn shown_settings_hide_secrets() {
    let settings = with(&[
        ("SEALWARD_ENVIRONMENT", "development"),
        (
            "SEALWARD_HSM_TOKENS",
            r#"[{ module = "/m.so", label = "a", pin = { value = "settings-secret" } }]"#,
        ),
    ])
    .unwrap();
    let shown = toml::to_string(&settings).unwrap();
    assert!(shown.contains("[redacted]") && !shown.contains("settings-secret"), "{shown}");
    assert!(!format!("{settings:?}").contains("settings-secret"));
}
