//! `compose.yaml`: services, mounts and networks.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::settings::{Environment, Settings};
use serde_json::Value;

use super::dockerfile::Dockerfile;
use super::{assert_is_a_command, read, settings, top};

const SETTINGS: &str = "deploy/compose/sealward.toml";

fn compose() -> Value {
    serde_saphyr::from_str(&read("compose.yaml")).expect("YAML")
}

fn services(compose: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let services = compose["services"].as_object().expect("services");
    services.iter().map(|(name, service)| (name.as_str(), service))
}

/// The services that run `sealward serve`.
fn instances(compose: &Value) -> Vec<&str> {
    services(compose)
        .filter(|(_, service)| service["command"] == serde_json::json!(["serve"]))
        .map(|(name, _)| name)
        .collect()
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().expect("text")).collect()
}

/// The mounts of a service: source and target.
fn mounts(service: &Value) -> Vec<(&str, &str)> {
    let mounts = texts(&service["volumes"]).into_iter();
    mounts
        .map(|mount| {
            let mut parts = mount.split(':');
            let (source, target) = (parts.next(), parts.next());
            (source.expect("a source"), target.expect("a target"))
        })
        .collect()
}

#[test]
fn built_and_mounted_files_exist() {
    let compose = compose();
    let file = Dockerfile::read();
    let volumes = compose["volumes"].as_object().expect("volumes");
    for (name, service) in services(&compose) {
        if let Some(target) = service["build"]["target"].as_str() {
            file.stage(target);
        } else {
            let (_, tag) =
                service["image"].as_str().and_then(|it| it.split_once(':')).expect("a tag");
            assert!(tag.starts_with(|first: char| first.is_ascii_digit()), "{name} is not pinned");
        }
        for (what, _) in mounts(service) {
            let exists = match what.strip_prefix("./") {
                Some(path) => top().join(path).is_file(),
                None => volumes.contains_key(what),
            };
            assert!(exists, "{name} mounts {what}");
        }
        for other in service["depends_on"].as_object().into_iter().flatten() {
            assert!(compose["services"].get(other.0).is_some(), "{name}: {}", other.0);
        }
    }
}

#[test]
fn instances_find_their_settings_and_all_referenced_files() {
    let compose = compose();
    let file = Dockerfile::read();
    let config = file.stage("base").last("ENV").expect("the path of the settings");
    let config = config.strip_prefix("SEALWARD_CONFIG=").expect("a place");
    let settings_text = read(SETTINGS);
    settings(SETTINGS);
    let instances = instances(&compose);
    assert_eq!(instances.len(), 2);
    for name in instances {
        let service = &compose["services"][name];
        let mounts = mounts(service);
        assert!(mounts.contains(&(&format!("./{SETTINGS}"), config)), "{name}");
        // Every path in the settings is on a volume or part of a package of the image.
        for path in settings_text.split('"').filter(|text| text.starts_with('/')) {
            let is_mounted = mounts.iter().any(|(_, place)| path.starts_with(place));
            assert!(is_mounted || path == "/usr/lib/softhsm/libsofthsm2.so", "{path}");
        }
        let words = [vec!["sealward"], texts(&service["command"])].concat();
        assert_is_a_command(&words);
    }
}

#[test]
fn every_service_runs_with_minimal_privileges() {
    let compose = compose();
    for (name, service) in services(&compose) {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(texts(&service["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(texts(&service["security_opt"]), ["no-new-privileges:true"], "{name}");
    }
    for name in instances(&compose) {
        let ulimits = &compose["services"][name]["ulimits"];
        assert_eq!((&ulimits["core"], &ulimits["memlock"]), (&0.into(), &(-1).into()));
        let grace = compose["services"][name]["stop_grace_period"].as_str().expect("a time");
        let grace: u64 = grace.trim_end_matches('s').parse().expect("seconds");
        let settings = settings(SETTINGS);
        let drain = settings.drain_delay() + settings.http.drain_timeout.0;
        assert!(Duration::from_secs(grace) > drain);
    }
}

#[test]
fn the_load_balancer_reaches_the_instances() {
    let compose = compose();
    let settings = settings(SETTINGS);
    let http = &settings.http;
    let balancer = &compose["services"]["load-balancer"];
    let variables = balancer["environment"].as_object().expect("variables");
    let expected = read("deploy/haproxy.cfg");
    let expected: BTreeSet<&str> =
        expected.split("${").skip(1).filter_map(|part| part.split('}').next()).collect();
    assert_eq!(variables.keys().map(String::as_str).collect::<BTreeSet<_>>(), expected);

    for (variable, name) in ["SEALWARD_A", "SEALWARD_B"].into_iter().zip(instances(&compose)) {
        let port = http.listen.port();
        assert_eq!(variables[variable], format!("{name}:{port}"));
    }
    let published = texts(&balancer["ports"]);
    let listen = variables["SEALWARD_LISTEN"].as_str().expect("an address");
    assert!(published.iter().all(|port| port.ends_with(listen)), "{published:?}");

    assert!(settings.tls_files().is_some(), "instances speak TLS");
    let subnet = &compose["networks"]["default"]["ipam"]["config"][0]["subnet"];
    let trusted: Vec<String> = http.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!([subnet.as_str().expect("a network")], trusted.as_slice());
}

#[test]
fn only_the_migration_has_the_password_of_the_owner() {
    let compose = compose();
    let migrate = &compose["services"]["migrate"];
    let words = [vec!["sealward"], texts(&migrate["command"])].concat();
    assert_is_a_command(&words);
    let variables = migrate["environment"].as_object().expect("variables");
    let variables = variables.iter().map(|(name, value)| {
        let value = value.as_str().expect("text");
        (name.into(), value.into())
    });
    let file = top().join(SETTINGS);
    let settings = Settings::load(Some(&file), &Environment::from_variables(variables));
    let settings = settings.expect("valid settings");
    assert!(settings.migrate.url.is_some() && settings.migrate.password.is_some());
    for name in instances(&compose) {
        let service = &compose["services"][name];
        assert!(mounts(service).iter().all(|(what, _)| *what != "owner"), "{name}");
        let migrated = &service["depends_on"]["migrate"]["condition"];
        assert_eq!(migrated, "service_completed_successfully", "{name}");
    }
}

#[test]
fn the_row_key_and_the_audit_logs_begin_before_the_instances_start() {
    let compose = compose();
    for (name, before, command) in
        [("init", "migrate", &["init"][..]), ("audit", "init", &["audit", "init"])]
    {
        let service = &compose["services"][name];
        assert_eq!(texts(&service["command"]), command);
        assert_is_a_command(&[&["sealward"], command].concat());
        let done = &service["depends_on"][before]["condition"];
        assert_eq!(done, "service_completed_successfully", "{name}");
    }
    for name in instances(&compose) {
        let begun = &compose["services"][name]["depends_on"]["audit"]["condition"];
        assert_eq!(begun, "service_completed_successfully", "{name}");
    }
}
