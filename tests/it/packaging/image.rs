//! The images of the `Dockerfile`.

use super::dockerfile::{Dockerfile, Stage};
use super::{assert_is_a_command, read, settings, top};

/// The folder of repository files in the images.
const SHARE: &str = "/usr/local/share/sealward/";

#[test]
fn every_base_is_pinned_to_a_release() {
    let file = Dockerfile::read();
    for stage in &file.stages {
        if file.stages.iter().any(|other| other.name == stage.base) {
            continue;
        }
        let name = stage.base.trim_start_matches("${").trim_end_matches('}');
        let (_, tag) = file.arguments[name].split_once(':').expect("a tag");
        let numbers = tag.split('-').next().expect("a version").split('.');
        assert!(numbers.clone().count() >= 2, "{tag} is not a release");
        assert!(numbers.clone().all(|number| number.parse::<u32>().is_ok()));
    }
    let expected = read("Cargo.toml");
    let expected = expected.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = |text: &str| -> Vec<u32> {
        let numbers = text.trim_matches('"').split('.');
        numbers.map(|number| number.parse().expect("a number")).collect()
    };
    let (_, tag) = file.arguments["RUST"].split_once(':').expect("a tag");
    let built_with = tag.split('-').next().expect("a version");
    assert!(version(built_with) >= version(expected.expect("a version")));
}

#[test]
fn no_image_runs_as_root_and_only_trial_images_contain_softhsm() {
    let file = Dockerfile::read();
    for name in ["dev", "production"] {
        let stage = file.stage(name);
        assert_eq!(stage.last("USER"), Some("10001:10001"), "{name}");
        let last = stage.instructions.iter().rposition(|(it, _)| it == "RUN");
        let user = stage.instructions.iter().position(|(it, _)| it == "USER");
        assert!(last < user, "{name} runs a command after it drops root");
    }
    assert_eq!(file.stages.last().expect("a stage").name, "production");
    let softhsm =
        |stage: &&Stage| stage.instructions.iter().any(|(_, rest)| rest.contains("softhsm"));
    assert!(!file.lineage("production").iter().any(softhsm));
    assert!(file.lineage("dev").iter().any(softhsm));
}

#[test]
fn copied_and_executed_files_exist() {
    let file = Dockerfile::read();
    let mut files = vec!["/usr/local/bin/sealward".to_owned()];
    for stage in &file.stages {
        for copy in stage.all("COPY") {
            let words: Vec<&str> = copy.split_whitespace().collect();
            if let ["--from=build", made, place] = words[..] {
                let expected = match made {
                    "/build/NOTICES" => "/usr/share/doc/sealward/NOTICES",
                    _ => files[0].as_str(),
                };
                assert_eq!(place, expected, "{copy}");
            } else if let [source, place] = words[..] {
                assert!(top().join(source).exists(), "{copy}");
                files.push(place.to_owned());
            }
        }
    }
    let entry = file.stage("dev").words("ENTRYPOINT").join(" ");
    let script = entry.strip_prefix(SHARE).expect("a script of the repository");
    assert!(top().join(script).exists(), "{entry}");
    assert!(files.iter().any(|place| entry.starts_with(place.as_str())), "{entry}");

    let production = file.stage("production");
    let command = [production.words("ENTRYPOINT"), production.words("CMD")].concat();
    assert_is_a_command(&command);
    let trial = ["sealward".to_owned()].into_iter().chain(file.stage("dev").words("CMD"));
    assert_is_a_command(&trial.collect::<Vec<_>>());
}

#[test]
fn the_trial_image_contains_the_programs_of_its_scripts() {
    let file = Dockerfile::read();
    let packages = file.stage("dev").packages();
    for script in ["softhsm/make-token", "deploy/make-certificates", "deploy/container/start"] {
        let text = read(script);
        for (program, package) in [
            ("softhsm2-util", "softhsm2"),
            ("flock", "util-linux"),
            ("script -", "bsdutils"),
            ("openssl", "openssl"),
        ] {
            assert!(
                !text.contains(program) || packages.contains(&package),
                "{script} calls {program}, and {package} is not installed"
            );
        }
    }
    let conf = file.stage("dev").last("ENV").expect("the path of the token");
    let token = conf.strip_prefix("SOFTHSM2_CONF=").expect("a configuration");
    let token = token.strip_suffix("/softhsm2.conf").expect("the file name of make-token");
    let is_created = file.stage("dev").all("RUN").any(|run| run.contains(token));
    assert!(is_created, "no instruction creates {token}");
}

#[test]
fn the_settings_of_a_trial_are_in_the_trial_image() {
    let page = read("docs/install/image.md");
    let (_, rest) = page.split_once("SEALWARD_CONFIG=").expect("the settings");
    let place = rest.split_whitespace().next().unwrap_or_default();
    settings(place.strip_prefix(SHARE).expect("a file of the repository"));
}

#[test]
fn the_exposed_port_is_the_one_it_listens_on() {
    let file = Dockerfile::read();
    let exposed = file.stage("base").last("EXPOSE").expect("a port");
    let listen = settings("deploy/compose/sealward.toml").http.listen;
    assert_eq!(exposed, listen.port().to_string());
}
