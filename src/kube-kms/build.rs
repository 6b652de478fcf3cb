//! Generates the messages and the service of `kms.proto`, without `protoc`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=kms.proto");
    let descriptors = protox::compile(["kms.proto"], ["."])?;
    let mut messages = tonic_prost_build::Config::new();
    // Their `Debug` shows no plaintext: see proto.rs.
    messages.skip_debug(["v2.EncryptRequest", "v2.DecryptResponse"]);
    tonic_prost_build::configure()
        .build_transport(false)
        .client_mod_attribute(".", "#[cfg(feature = \"client\")]")
        .compile_fds_with_config(descriptors, messages)?;
    Ok(())
}
