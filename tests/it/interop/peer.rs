//! Another JOSE library in a separate process. Each request and each response is one line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

pub(crate) struct Peer {
    name: &'static str,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// npm `jose`.
    pub(super) fn jose() -> Self {
        Self::start("jose", Path::new("node"), "jose.mjs")
    }

    /// PyPI `jwcrypto`.
    pub(super) fn jwcrypto() -> Self {
        Self::start("jwcrypto", &home().join("venv/bin/python"), "jwcrypto_peer.py")
    }

    /// PyPI `joserfc`.
    pub(super) fn joserfc() -> Self {
        Self::start("joserfc", &home().join("venv/bin/python"), "joserfc_peer.py")
    }

    /// PyPI `cryptography` and `jwcrypto`, which generate keys.
    pub(super) fn keys() -> Self {
        Self::start("keys", &home().join("venv/bin/python"), "keys_peer.py")
    }

    /// PyPI `cryptography`, which signs and verifies with ML-DSA.
    pub(crate) fn ml_dsa() -> Self {
        Self::start("cryptography", &home().join("venv/bin/python"), "ml_dsa_peer.py")
    }

    /// PyPI `cryptography`, which seals and opens with HPKE.
    pub(super) fn hpke() -> Self {
        Self::start("cryptography", &home().join("venv/bin/python"), "hpke_peer.py")
    }

    /// PyPI `cyclonedx-python-lib`, which has the official schema of bills of materials.
    pub(super) fn cyclonedx() -> Self {
        Self::start("cyclonedx", &home().join("venv/bin/python"), "cyclonedx_peer.py")
    }

    /// Sends a request and waits for its response.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.requests, "{request}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer)
            .unwrap_or_else(|_| panic!("{} sent no response to {request}", self.name))
    }

    fn start(name: &'static str, program: &Path, script: &str) -> Self {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/interop").join(script);
        let mut process = Command::new(program)
            .args([script, home()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let requests = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self { name, process, requests, answers }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process may already have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "./dev test sets the folder of the libraries")]
pub(crate) fn home() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_INTEROP")
        .expect("SEALWARD_TEST_INTEROP is not set: ./dev test sets it to what tests/outside/interop/setup prints")
        .into()
}
