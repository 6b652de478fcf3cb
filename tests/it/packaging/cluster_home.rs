//! The home folder of a Postgres cluster that `deploy/dev/postgres.sh` creates.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use testkit::Scratch;

use super::top;

/// Requests the same home three times, like repeated calls of `./dev up`.
const SCRIPT: &str = r#"
    state=$1
    . deploy/dev/output.sh
    . deploy/dev/postgres.sh
    for _ in 1 2 3; do cluster_home "$state/postgres"; done
"#;

#[test]
fn a_home_stays_in_place_if_the_user_of_the_cluster_cannot_enter_the_folder() {
    let closed = Scratch::new();
    fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).expect("a closed folder");
    let state = closed.path().join("state");
    fs::create_dir(&state).expect("a state folder");
    let id = format!("test-{:016x}", rand::random::<u64>());
    fs::write(state.join("id"), id).expect("an id");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", SCRIPT, "test"])
        .arg(&state)
        .current_dir(top())
        .output()
        .expect("run bash");
    let printed = String::from_utf8_lossy(&output.stdout);
    let homes: Vec<&Path> = printed.lines().map(Path::new).collect();
    let link = state.join("postgres").canonicalize().expect("a home");
    let entries = fs::read_dir(&link).expect("the home").count();
    if !link.starts_with(closed.path()) {
        fs::remove_dir_all(&link).expect("remove the home");
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(homes, [link.as_path(); 3], "{errors}");
    assert_eq!(entries, 0, "an empty home stays empty");
}
