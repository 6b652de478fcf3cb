//! A failed connection to Postgres: the report of each command names its setting and the way out.

use testkit::{Exit, Site};

/// The commands that connect, and the section of the settings that has their URL.
const COMMANDS: [(&str, &str); 3] =
    [("serve", "database"), ("migrate", "migrate"), ("retain", "retain")];

fn run(site: &Site, command: &str, variables: &[(String, String)]) -> Exit {
    let mut command = site.command(&[command]);
    command.env("SEALWARD_RETAIN_DAYS", "90");
    let variables = variables.iter().map(|(name, value)| (name, value));
    let output = command.envs(variables).output();
    output.expect("run the binary").into()
}

fn url(section: &str, url: &str) -> [(String, String); 1] {
    let name = format!("SEALWARD_{}_URL", section.to_uppercase());
    [(name, url.to_owned())]
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_reported() {
    let site = Site::new().await;
    for (command, section) in COMMANDS {
        let nowhere = url(section, "postgres://unknown@127.0.0.1:1/nothing");
        let advice = format!("start Postgres, or correct the host and port in {section}.url");
        let place = format!("127.0.0.1:1/nothing ({section}.url)");
        run(&site, command, &nowhere).failure(1, &[&place, &advice]);
    }
}

#[tokio::test]
async fn a_wrong_password_is_reported() {
    let site = Site::new().await;
    for (command, section) in COMMANDS {
        let login = site.login(section, &[]).await;
        site.write(&format!("{section}-password"), "wrong");
        let advice = format!("correct {section}.password");
        run(&site, command, &login).failure(1, &[&format!("({section}.url)"), &advice]);
    }
}

#[tokio::test]
async fn a_missing_database_is_reported() {
    let site = Site::new().await;
    let existing = site.database().get_database().expect("a name");
    for (command, section) in COMMANDS {
        let mut login = site.login(section, &[]).await;
        login[0].1 = login[0].1.replace(existing, "no_such_database");
        let advice = format!("create the database, or correct its name in {section}.url");
        run(&site, command, &login).failure(1, &["no_such_database", &advice]);
    }
}
