//! The Kubernetes manifest: its settings load, its commands exist, and its pods are restricted.

use std::collections::BTreeSet;

use engine::settings::{Environment, Settings};
use serde_json::{Value, json};

use super::{assert_is_a_command, read};
use testkit::Scratch;

const MANIFEST: &str = "deploy/kubernetes/sealward.yaml";

fn resources() -> Vec<Value> {
    let text = read(MANIFEST);
    let documents = text.split("\n---\n").map(|document| {
        let document = serde_saphyr::from_str(document.trim_start_matches("---\n"));
        document.unwrap_or_else(|error| panic!("{MANIFEST}: {error}"))
    });
    documents.filter(|document: &Value| !document.is_null()).collect()
}

fn named<'r>(resources: &'r [Value], kind: &str, name: &str) -> &'r Value {
    let mut found = resources
        .iter()
        .filter(|resource| resource["kind"] == kind && resource["metadata"]["name"] == name);
    let first = found.next();
    first.unwrap_or_else(|| panic!("{MANIFEST} has no {kind} {name}"))
}

/// The pods: their command and their specification.
fn pods(resources: &[Value]) -> [(&'static str, &Value); 4] {
    let job = &named(resources, "Job", "sealward-migrate")["spec"];
    let init = &named(resources, "Job", "sealward-init")["spec"];
    let cron = &named(resources, "CronJob", "sealward-retain")["spec"]["jobTemplate"]["spec"];
    let deployment = &named(resources, "Deployment", "sealward")["spec"];
    [("serve", deployment), ("migrate", job), ("init", init), ("retain", cron)]
        .map(|(command, owner)| (command, &owner["template"]["spec"]))
}

fn settings(resources: &[Value]) -> Settings {
    let map = named(resources, "ConfigMap", "sealward");
    let text = map["data"]["sealward.toml"].as_str().expect("the settings");
    let folder = Scratch::new();
    let file = folder.path().join("sealward.toml");
    std::fs::write(&file, text).expect("write the settings");
    Settings::load(Some(&file), &Environment::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_settings_are_valid_and_those_of_the_migration_too() {
    let resources = resources();
    settings(&resources);
    let [of_pods, of_migration] =
        ["sealward", "sealward-migrate"].map(|name| &named(&resources, "ConfigMap", name)["data"]);
    assert_eq!(of_pods, of_migration);
}

#[test]
fn each_pod_runs_its_command_without_privileges() {
    let resources = resources();
    for (command, pod) in pods(&resources) {
        assert_eq!(pod["automountServiceAccountToken"], false, "{command}");
        assert_eq!(pod["enableServiceLinks"], false, "{command}");
        let context = &pod["securityContext"];
        assert_eq!(context["runAsNonRoot"], true, "{command}");
        assert_eq!(context["seccompProfile"], json!({ "type": "RuntimeDefault" }));
        let started = [&pod["containers"], &pod["initContainers"]];
        for container in started.into_iter().filter_map(Value::as_array).flatten() {
            let context = &container["securityContext"];
            assert_eq!(context["allowPrivilegeEscalation"], false, "{container}");
            assert_eq!(context["readOnlyRootFilesystem"], true, "{container}");
            assert_eq!(context["capabilities"], json!({ "drop": ["ALL"] }));
        }
        assert_eq!(pod["containers"][0]["args"], json!([command]));
        assert_is_a_command(&["sealward", command]);
    }
}

/// Each path that a command reads is in a volume of its pod, and no other pod mounts a secret of it.
#[test]
fn each_pod_mounts_the_files_of_its_settings_and_no_other_secrets() {
    let resources = resources();
    let settings = toml::Value::try_from(settings(&resources)).expect("TOML");
    let file = |place: &[&str]| {
        let value = place.iter().try_fold(&settings, |value, name| value.get(name));
        value.and_then(|value| value.as_str()).map(ToOwned::to_owned)
    };
    let database_ca = file(&["database", "ca"]);
    let pin = settings["hsm"]["tokens"][0]["pin"]["file"].as_str();
    let module = settings["hsm"]["tokens"][0]["module"].as_str();
    let needs = |command: &str| -> Vec<String> {
        let found = match command {
            "serve" => vec![
                file(&["http", "tls", "certificate"]),
                file(&["http", "tls", "key"]),
                file(&["database", "password", "file"]),
                pin.map(ToOwned::to_owned),
                module.map(ToOwned::to_owned),
            ],
            "init" => vec![
                file(&["database", "password", "file"]),
                pin.map(ToOwned::to_owned),
                module.map(ToOwned::to_owned),
            ],
            other => vec![file(&[other, "password", "file"])],
        };
        let found = found.into_iter().chain([database_ca.clone()]);
        found.map(|path| path.expect("a path")).collect()
    };
    let secrets = |pod: &Value| -> BTreeSet<String> {
        let volumes = pod["volumes"].as_array().expect("volumes").iter();
        volumes
            .filter_map(|volume| volume["secret"]["secretName"].as_str())
            .map(ToOwned::to_owned)
            .collect()
    };
    for (command, pod) in pods(&resources) {
        let mounts = pod["containers"][0]["volumeMounts"].as_array().expect("mounts");
        for path in needs(command) {
            let is_mounted = mounts.iter().any(|mount| {
                path.starts_with(&format!("{}/", mount["mountPath"].as_str().expect("a path")))
            });
            assert!(is_mounted, "{command} does not mount {path}");
        }
    }
    let [(_, serve), (_, migrate), (_, init), (_, retain)] = pods(&resources);
    assert!(secrets(init).is_disjoint(&secrets(migrate)));
    assert_eq!(secrets(migrate), BTreeSet::from(["sealward-owner".to_owned()]));
    assert_eq!(secrets(retain), BTreeSet::from(["sealward-retention".to_owned()]));
    assert!(secrets(serve).is_disjoint(&secrets(migrate)));
    assert!(secrets(serve).is_disjoint(&secrets(retain)));
}

#[test]
fn probes_and_the_service_use_the_listeners_of_the_settings() {
    let resources = resources();
    let settings = settings(&resources);
    let [(_, serve), ..] = pods(&resources);
    let container = &serve["containers"][0];
    let port = |name: &str| {
        let mut ports = container["ports"].as_array().expect("ports").iter();
        let port = ports.find(|port| port["name"] == name).expect("a port");
        u16::try_from(port["containerPort"].as_u64().expect("a number")).expect("a port")
    };
    let http = &settings.http;
    assert_eq!(port("https"), http.listen.port());
    assert_eq!(Some(port("probes")), http.probe_listen.map(|it| it.port()));
    assert_eq!(Some(port("metrics")), settings.metrics.listen.map(|it| it.port()));
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        assert_eq!(container[probe]["httpGet"]["port"], "probes");
    }
    let grace = serve["terminationGracePeriodSeconds"].as_u64().expect("a number");
    let drain = settings.drain_delay() + http.drain_timeout.0;
    assert!(grace > drain.as_secs());
}
