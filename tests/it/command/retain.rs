//! `sealward retain`: one line per day, with a separate login.

use testkit::{Exit, Site};

/// A site with a day of 2020 and the login that detaches days.
async fn site() -> (Site, Vec<(String, String)>) {
    let site = Site::new().await;
    let mut owner = site.connect().await;
    sqlx::raw_sql("SELECT make_audit_day('2020-02-02'); SELECT make_audit_day('2020-02-03')")
        .execute(&mut owner)
        .await
        .unwrap();
    let mut variables = site.login("retain", &["sealward_retention"]).await.to_vec();
    variables.push(("SEALWARD_RETAIN_DAYS".to_owned(), "90".to_owned()));
    (site, variables)
}

fn retain(site: &Site, variables: &[(String, String)]) -> Exit {
    let mut command = site.command(&["retain"]);
    let variables = variables.iter().map(|(name, value)| (name, value));
    command.envs(variables).output().expect("run the binary").into()
}

#[tokio::test]
async fn the_first_run_prints_one_line_per_day_and_the_second_run_none() {
    let (site, mut variables) = site().await;
    let first = retain(&site, &variables).success();
    assert_eq!(first.stdout, "2020-02-02 detached\n2020-02-03 detached\n");
    assert_eq!(retain(&site, &variables).success().stdout, "");
    variables.push(("SEALWARD_RETAIN_DROP".to_owned(), "true".to_owned()));
    let dropped = retain(&site, &variables).success();
    assert_eq!(dropped.stdout, "2020-02-02 dropped\n2020-02-03 dropped\n");
    assert_eq!(retain(&site, &variables).success().stdout, "");
}

#[tokio::test]
async fn the_report_names_the_setting_or_grant_to_change() {
    let (site, variables) = site().await;
    site.run(&["retain"]).failure(78, &["retain.url and retain.days must be set"]);
    let mut fewer = variables.clone();
    fewer.push(("SEALWARD_RETAIN_DAYS".to_owned(), "89".to_owned()));
    retain(&site, &fewer).failure(78, &["retain.days must be at least", "90 days"]);
    let mut member_of_nothing = variables.clone();
    member_of_nothing.extend(site.login("retain", &["sealward_application"]).await);
    retain(&site, &member_of_nothing).failure(78, &["GRANT sealward_retention TO it"]);
    let mut unreachable = variables;
    let nowhere = "postgres://unknown@127.0.0.1:1/nothing".to_owned();
    unreachable.push(("SEALWARD_RETAIN_URL".to_owned(), nowhere));
    retain(&site, &unreachable).failure(1, &["127.0.0.1:1/nothing"]);
}

#[tokio::test]
async fn help_describes_the_exit_codes() {
    let site = Site::new().await;
    let help = site.run(&["retain", "--help"]).success().stdout;
    for words in ["retain.days", "retain.drop", "one line per day", "exit code", "78"] {
        let text: Vec<&str> = help.split_whitespace().collect();
        assert!(text.join(" ").contains(words), "{words:?} is not in {help}");
    }
}
