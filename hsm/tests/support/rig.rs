//! Tokens that a test may hurt: it runs in a process of its own, with tokens of its own, each
//! behind the faulty token.

use std::future::Future;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{any, env, fs};

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, PublicKeyComponents,
};
use faulty_token::{Control, FOLDER};
use hsm::{
    Algorithm, Config, Generated, NewKey, OaepHash, PublicKey, Purpose, Token, TokenState,
    TokenStatus,
};
use tokio::runtime::Runtime;

use super::bench::id;
use super::home::{Home, Kind, LABELS};

/// What a test in a process of its own works with.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) kind: Kind,
    pub(crate) home: Home,
    pub(crate) faults: Control,
}

/// Tells the process of its own where its tokens lie, and which kind of them to use.
const CHILD: &str = "HSM_TEST_RIG";
const CHILD_KIND: &str = "HSM_TEST_RIG_KIND";
/// Tells one more process that it is to die.
const DOOMED: &str = "HSM_TEST_DOOMED";
/// No test takes nearly as long as this, even on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the test that calls this in a process of its own, with SoftHSM.
pub(crate) fn alone<F: Future<Output = ()>>(test: impl FnOnce(Rig) -> F) {
    run(&[Kind::SoftHsm], test);
}

/// Runs the test that calls this in two processes of their own, one with each kind of token.
pub(crate) fn alone_on_both<F: Future<Output = ()>>(test: impl FnOnce(Rig) -> F) {
    run(&[Kind::SoftHsm, Kind::Kryoptic], test);
}

#[allow(
    clippy::disallowed_methods,
    reason = "the environment tells the processes apart"
)]
fn run<T: FnOnce(Rig) -> F, F: Future<Output = ()>>(kinds: &[Kind], test: T) {
    if let Some(folder) = env::var_os(CHILD) {
        let kryoptic = env::var_os(CHILD_KIND).is_some_and(|kind| kind == "kryoptic");
        return run_here(folder.into(), kryoptic, test);
    }
    // The closure's type is named after the function it stands in, which is the test.
    let path = any::type_name::<T>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").unwrap();
    let started: Vec<_> = kinds.iter().map(|kind| start(*kind, name)).collect();
    let failed: Vec<String> = started.into_iter().filter_map(Started::complaint).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn run_here<F: Future<Output = ()>>(folder: PathBuf, kryoptic: bool, test: impl FnOnce(Rig) -> F) {
    let kind = if kryoptic {
        Kind::Kryoptic
    } else {
        Kind::SoftHsm
    };
    let rig = Rig {
        kind,
        faults: Control::at(folder.join("faults")),
        home: Home::at(folder),
    };
    if kryoptic {
        rig.home.initialise_kryoptic();
    }
    let runtime = Runtime::new().unwrap();
    let in_time = runtime.block_on(async { tokio::time::timeout(PATIENCE, test(rig)).await });
    in_time.expect("the test does not end");
}

struct Started {
    kind: Kind,
    home: Home,
    child: Child,
}

fn start(kind: Kind, name: &str) -> Started {
    let home = Home::furnish(&format!("{kind:?}-{}", name.replace("::", "-")));
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
    Started { kind, home, child }
}

impl Started {
    fn complaint(self) -> Option<String> {
        let ended = self.child.wait_with_output().unwrap();
        fs::remove_dir_all(self.home.folder()).unwrap();
        let output = String::from_utf8_lossy(&ended.stdout);
        let errors = String::from_utf8_lossy(&ended.stderr);
        let passed = ended.status.success() && output.contains("1 passed");
        (!passed).then(|| format!("on {:?}, {}:\n{output}\n{errors}", self.kind, ended.status))
    }
}

impl Rig {
    /// Runs the same test in one more process on the same tokens, where it [is
    /// doomed](Self::is_doomed), and tells how that ended.
    pub(crate) fn doom(&self) -> ExitStatus {
        Command::new(env::current_exe().unwrap())
            .args(env::args().skip(1))
            .env(DOOMED, "")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "the environment tells the processes apart"
    )]
    pub(crate) fn is_doomed(&self) -> bool {
        env::var_os(DOOMED).is_some()
    }

    /// A configuration for the first of the tokens: it looks after it often, and waits long.
    pub(crate) fn config(&self) -> Config {
        self.config_of(&LABELS[..1])
    }

    /// As [`config`](Self::config), but it does not wait long. For tests that come to wait.
    pub(crate) fn hasty(&self) -> Config {
        Config {
            deadline: Duration::from_secs(2),
            ..self.config()
        }
    }

    /// As [`config`](Self::config), for both of the tokens.
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

    pub(crate) async fn open_hastily(&self) -> Token {
        Token::open(self.hasty()).await.unwrap()
    }
}

/// Makes a key under a fresh id.
pub(crate) async fn make(token: &Token, algorithm: Algorithm, purpose: Purpose) -> Generated {
    let order = NewKey {
        id: id(),
        label: "for tests".to_owned(),
        algorithm,
        purpose,
    };
    token.generate(order).await.unwrap()
}

/// A content key wrapped by RSA-OAEP with the public half of a key.
pub(crate) fn seal(made: &Generated, hash: OaepHash, content_key: &[u8]) -> Vec<u8> {
    let Some(PublicKey::Rsa { modulus, exponent }) = &made.public else {
        panic!("not an RSA key: {made:?}");
    };
    let public = PublicKeyComponents {
        n: modulus.as_slice(),
        e: exponent.as_slice(),
    };
    let key = OaepPublicEncryptingKey::new(public.try_into().unwrap()).unwrap();
    let algorithm = match hash {
        OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
        OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
    };
    let mut sealed = vec![0; key.ciphertext_size()];
    key.encrypt(algorithm, content_key, &mut sealed, None)
        .unwrap();
    sealed
}

/// How the token with this label is.
pub(crate) fn status(token: &Token, label: &str) -> TokenStatus {
    let mut tokens = token.status().tokens.into_iter();
    tokens.find(|status| status.label == label).unwrap()
}

pub(crate) fn is_out(status: &TokenStatus) -> bool {
    matches!(status.state, TokenState::Out { .. })
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let given_up = Instant::now() + Duration::from_secs(30);
    while !so() {
        assert!(Instant::now() < given_up, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
