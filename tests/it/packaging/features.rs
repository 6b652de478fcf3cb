//! The program has no fault points: only the tests enable them.

use std::process::Command;

use super::top;

/// The features of the engine in a build with these edges.
fn features(edges: &str) -> String {
    let edges = format!("--edges=features,{edges}");
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--package=sealward"])
        .args([&edges, "--invert=sealward-engine"])
        .current_dir(top())
        .output()
        .expect("start cargo");
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{errors}");
    String::from_utf8(tree.stdout).expect("text")
}

#[test]
fn a_build_of_the_program_has_no_fault_points() {
    const FAULTS: &str = "feature \"fault-points\"";
    assert!(features("normal,build,dev").contains(FAULTS));
    let built = features("normal,build");
    assert!(built.contains("sealward-engine") && !built.contains(FAULTS), "{built}");
}
