//! A child process for tests that affect their tokens. Each has its own tokens behind the faulty
//! token.

use std::future::Future;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{any, env, fs};

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, PublicKeyComponents,
};
use faulty_token::{Control, FOLDER};
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, OaepHash};
use hsm::{Config, Generated, NewKey, Purpose, Token, TokenState, TokenStatus};
use tokio::runtime::Runtime;

use super::shared_token::id;
use super::token_folder::{Kind, LABELS, TokenFolder};

/// The tokens and faults of a test in a child process.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) kind: Kind,
    pub(crate) home: TokenFolder,
    pub(crate) faults: Control,
}

/// The variables for the child process: its token folder and the kind of token.
const CHILD: &str = "HSM_TEST_CHILD";
const CHILD_KIND: &str = "HSM_TEST_CHILD_KIND";
/// The variable for the process that must die.
const DYING: &str = "HSM_TEST_DYING";
/// The time limit of a test, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the calling test in a child process with SoftHSM.
pub(crate) fn in_child_process<F: Future<Output = ()>>(test: impl FnOnce(Fixture) -> F) {
    run(&[Kind::SoftHsm], test);
}

/// Runs the calling test in two child processes, one per kind of token.
pub(crate) fn in_child_processes<F: Future<Output = ()>>(test: impl FnOnce(Fixture) -> F) {
    run(&[Kind::SoftHsm, Kind::Kryoptic], test);
}

#[allow(clippy::disallowed_methods, reason = "the environment identifies the child process")]
fn run<T: FnOnce(Fixture) -> F, F: Future<Output = ()>>(kinds: &[Kind], test: T) {
    if let Some(folder) = env::var_os(CHILD) {
        let kryoptic = env::var_os(CHILD_KIND).is_some_and(|kind| kind == "kryoptic");
        return run_here(folder.into(), kryoptic, test);
    }
    // The type name of the closure contains the name of the test.
    let path = any::type_name::<T>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").unwrap();
    let started: Vec<_> = kinds.iter().map(|kind| start(*kind, name)).collect();
    let failed: Vec<String> = started.into_iter().filter_map(ChildTest::failure).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn run_here<F: Future<Output = ()>>(
    folder: PathBuf,
    kryoptic: bool,
    test: impl FnOnce(Fixture) -> F,
) {
    let kind = if kryoptic { Kind::Kryoptic } else { Kind::SoftHsm };
    let fixture =
        Fixture { kind, faults: Control::at(folder.join("faults")), home: TokenFolder::at(folder) };
    if kryoptic {
        fixture.home.initialize_kryoptic();
    }
    let runtime = Runtime::new().unwrap();
    let in_time = runtime.block_on(async { tokio::time::timeout(PATIENCE, test(fixture)).await });
    in_time.expect("the test exceeds its time limit");
}

struct ChildTest {
    kind: Kind,
    home: TokenFolder,
    child: Child,
}

fn start(kind: Kind, name: &str) -> ChildTest {
    let home = TokenFolder::create(&format!("{kind:?}-{}", name.replace("::", "-")));
    let faults = Control::new(home.folder().join("faults"), kind.module());
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture"])
        .env(CHILD, home.folder())
        .env(FOLDER, faults.folder())
        .envs(home.environment())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if kind == Kind::Kryoptic {
        command.env(CHILD_KIND, "kryoptic");
    }
    let child = command.spawn().unwrap();
    ChildTest { kind, home, child }
}

impl ChildTest {
    fn failure(self) -> Option<String> {
        let ended = self.child.wait_with_output().unwrap();
        fs::remove_dir_all(self.home.folder()).unwrap();
        let output = String::from_utf8_lossy(&ended.stdout);
        let errors = String::from_utf8_lossy(&ended.stderr);
        let passed = ended.status.success() && output.contains("1 passed");
        (!passed).then(|| format!("on {:?}, {}:\n{output}\n{errors}", self.kind, ended.status))
    }
}

impl Fixture {
    /// Runs the same test in another process with the same tokens. There
    /// [`is_dying_process`](Self::is_dying_process) is true. Returns the exit status.
    pub(crate) fn run_dying_process(&self) -> ExitStatus {
        Command::new(env::current_exe().unwrap())
            .args(env::args().skip(1))
            .env(DYING, "")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
    }

    #[allow(clippy::disallowed_methods, reason = "the environment identifies the child process")]
    pub(crate) fn is_dying_process(&self) -> bool {
        env::var_os(DYING).is_some()
    }

    /// A configuration for the first token with frequent canaries and long deadlines.
    pub(crate) fn config(&self) -> Config {
        self.config_of(&LABELS[..1])
    }

    /// As [`config`](Self::config), with a short deadline.
    pub(crate) fn with_short_deadline(&self) -> Config {
        Config { deadline: Duration::from_secs(2), ..self.config() }
    }

    /// As [`config`](Self::config), for both tokens.
    pub(crate) fn config_of_both(&self) -> Config {
        self.config_of(&LABELS)
    }

    fn config_of(&self, labels: &[&str]) -> Config {
        let module = Control::module();
        let tokens = labels.iter().map(|label| self.home.token(&module, label));
        Config {
            workers: 2,
            deadline: Duration::from_secs(15),
            generate_deadline: Duration::from_secs(60),
            canary_interval: Duration::from_millis(300),
            hang_budget: 2,
            allow_raw_rsa: self.kind == Kind::SoftHsm,
            ..Config::new(tokens.collect())
        }
    }

    pub(crate) async fn open(&self) -> Token {
        Token::open(self.config()).await.unwrap()
    }

    pub(crate) async fn open_with_short_deadline(&self) -> Token {
        Token::open(self.with_short_deadline()).await.unwrap()
    }
}

/// Generates a key with a random ID.
pub(crate) async fn generate_key(
    token: &Token,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Generated {
    let request = NewKey { id: id(), label: "for tests".to_owned(), algorithm, purpose };
    token.generate(request).await.unwrap()
}

/// Wraps a content key with RSA-OAEP.
pub(crate) fn seal(created: &Generated, hash: OaepHash, content_key: &[u8]) -> Vec<u8> {
    let Some(PublicParts::Rsa { modulus, exponent }) = &created.public else {
        panic!("not an RSA key: {created:?}");
    };
    let public = PublicKeyComponents { n: modulus.as_slice(), e: exponent.as_slice() };
    let key = OaepPublicEncryptingKey::new(public.try_into().unwrap()).unwrap();
    let algorithm = match hash {
        OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
        OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
    };
    let mut sealed = vec![0; key.ciphertext_size()];
    key.encrypt(algorithm, content_key, &mut sealed, None).unwrap();
    sealed
}

/// The status of the token with this label.
pub(crate) fn status(token: &Token, label: &str) -> TokenStatus {
    let mut tokens = token.status().tokens.into_iter();
    tokens.find(|status| status.label == label).unwrap()
}

pub(crate) fn is_out(status: &TokenStatus) -> bool {
    matches!(status.state, TokenState::Out { .. })
}

/// Waits until the condition is true.
pub(crate) async fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
