//! Has the crate built again when a migration is added, since migrations are embedded in the binary.

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
