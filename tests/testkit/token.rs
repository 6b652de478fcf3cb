//! The token of all tests in a process. SoftHSM reads its configuration once per process, so tests
//! share the token and use separate keys.

use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::{Arc, LazyLock};
use std::{env, fs};

use engine::meter::TokenTimes;
use faulty_token::{VendorKey, make_keys, skip_destructors};
use hsm::{Config, Token, TokenConfig, TokenSelect};
use tokio::sync::OnceCell;

const PREFIX: &str = "sealward-it-token-";
const LABEL: &str = "tests";
const PIN: &str = "5678";

/// The token. The first test creates it.
pub async fn token() -> Token {
    static TOKEN: OnceCell<Token> = OnceCell::const_new();
    TOKEN.get_or_init(open).await.clone()
}

/// A kryoptic token, which supports the mechanisms of a modern HSM. The first test creates it.
pub async fn kryoptic() -> Token {
    static TOKEN: OnceCell<Token> = OnceCell::const_new();
    TOKEN.get_or_init(open_kryoptic).await.clone()
}

async fn open_kryoptic() -> Token {
    // The token of SoftHSM2 comes first: it sweeps, and its settings serve the tool.
    let _ = token().await;
    let home = folder_of_process();
    let module = kryoptic_module();
    make_kryoptic(&home, &module);
    let config = TokenConfig {
        module,
        select: TokenSelect::Label(LABEL.to_owned()),
        module_parameters: None,
        retry_pin: false,
        pin: PIN.to_owned().into(),
    };
    let config = Config { observer: Some(Arc::new(times().clone())), ..Config::new(vec![config]) };
    let opened = Token::open(config).await;
    skip_destructors();
    opened.expect("a new token")
}

/// The folder of the tokens of this process.
pub(crate) fn folder_of_process() -> PathBuf {
    env::temp_dir().join(format!("{PREFIX}{}", process::id()))
}

/// Creates a kryoptic token in `home` and sets KRYOPTIC_CONF for this process.
#[allow(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "kryoptic reads its settings only from the environment of the process"
)]
fn make_kryoptic(home: &Path, module: &Path) {
    let settings = home.join("kryoptic.conf");
    let slot = format!(
        "[[slots]]\nslot = 0\ndbtype = \"sqlite\"\ndbargs = \"{}\"\n",
        home.join("kryoptic.sql").display()
    );
    fs::write(&settings, slot).expect("kryoptic's settings");
    // This SoftHSM2 tool initializes tokens of any module.
    let created = Command::new("softhsm2-util")
        .arg("--module")
        .arg(module)
        .args(["--init-token", "--slot", "0", "--label", LABEL])
        .args(["--so-pin", "1234", "--pin", PIN])
        .env("KRYOPTIC_CONF", &settings)
        .output()
        .expect("run softhsm2-util");
    assert!(created.status.success(), "{created:?}");
    // SAFETY: as for SoftHSM2.
    unsafe { env::set_var("KRYOPTIC_CONF", &settings) };
}

/// The durations of operations on that token.
pub(super) fn times() -> &'static TokenTimes {
    static TIMES: LazyLock<TokenTimes> = LazyLock::new(TokenTimes::default);
    &TIMES
}

async fn open() -> Token {
    sweep();
    make(&folder_of_process());
    vendor_keys();
    let config = TokenConfig {
        module: module(),
        select: TokenSelect::Label(LABEL.to_owned()),
        module_parameters: None,
        retry_pin: false,
        pin: PIN.to_owned().into(),
    };
    let config = Config {
        // SoftHSM does not support OAEP with SHA-2; the tests use the replacement for development.
        allow_raw_rsa: true,
        observer: Some(Arc::new(times().clone())),
        ..Config::new(vec![config])
    };
    let opened = Token::open(config).await;
    skip_destructors();
    opened.expect("a new token")
}

/// The labels of keys that a vendor's tool made: a sound key, one that can leave the token, and one
/// whose value the token shows.
pub const SOUND: &str = "vendor: sound";
pub const EXTRACTABLE: &str = "vendor: extractable";
pub const NOT_SENSITIVE: &str = "vendor: not sensitive";

fn vendor_keys() {
    let key = |label, sensitive, extractable| VendorKey { label, sensitive, extractable };
    let keys =
        [key(SOUND, true, false), key(EXTRACTABLE, true, true), key(NOT_SENSITIVE, false, false)];
    make_keys(&module(), LABEL, PIN, &keys).expect("the keys of a vendor");
}

/// Creates a token in `home` and sets SOFTHSM2_CONF for this process.
#[allow(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "SoftHSM reads its folder only from the environment of the process"
)]
fn make(home: &Path) {
    fs::create_dir_all(home.join("tokens")).expect("a folder for the token");
    let config = home.join("softhsm2.conf");
    let settings =
        format!("directories.tokendir = {}\nlog.level = ERROR\n", home.join("tokens").display());
    fs::write(&config, settings).expect("write the token's configuration");
    let created = Command::new("softhsm2-util")
        .args(["--init-token", "--free", "--label", LABEL])
        .args(["--so-pin", "1234", "--pin", PIN])
        .env("SOFTHSM2_CONF", &config)
        .output()
        .expect("run softhsm2-util");
    assert!(created.status.success(), "{created:?}");
    // SAFETY: Rust code reads the environment under the same lock. The only C code that reads this
    // name is the module, which the caller loads afterwards on this thread.
    unsafe { env::set_var("SOFTHSM2_CONF", &config) };
}

#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
pub fn module() -> PathBuf {
    env::var_os("SEALWARD_TEST_SOFTHSM")
        .expect("SEALWARD_TEST_SOFTHSM is not set; use ./dev test")
        .into()
}

#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
pub fn kryoptic_module() -> PathBuf {
    env::var_os("SEALWARD_TEST_KRYOPTIC")
        .expect("SEALWARD_TEST_KRYOPTIC names kryoptic's module; ./dev test sets it")
        .into()
}

/// Removes the tokens of processes that no longer exist.
fn sweep() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may remove the folder at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
