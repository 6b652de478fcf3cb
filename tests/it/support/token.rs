//! One token for all tests of a process: SoftHSM reads its configuration once, and tests are told
//! apart by their keys.

use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::{Arc, LazyLock};
use std::{env, fs};

use hsm::{Config, Token, TokenConfig, TokenSelect};
use sealward::meter::TokenTimes;
use tokio::sync::OnceCell;

const PREFIX: &str = "sealward-it-token-";
const LABEL: &str = "tests";
const PIN: &str = "5678";

/// The token, made by whichever test comes first.
pub(crate) async fn token() -> Token {
    static TOKEN: OnceCell<Token> = OnceCell::const_new();
    TOKEN.get_or_init(open).await.clone()
}

/// The durations of operations on that token.
pub(crate) fn times() -> &'static TokenTimes {
    static TIMES: LazyLock<TokenTimes> = LazyLock::new(TokenTimes::default);
    &TIMES
}

async fn open() -> Token {
    sweep();
    let home = env::temp_dir().join(format!("{PREFIX}{}", process::id()));
    make(&home);
    let config = TokenConfig {
        module: module(),
        select: TokenSelect::Label(LABEL.to_owned()),
        pin: PIN.to_owned().into(),
    };
    let config = Config {
        // SoftHSM has no OAEP with SHA-2; what stands in for it in development is tested here.
        allow_raw_rsa: true,
        observer: Some(Arc::new(times().clone())),
        ..Config::new(vec![config])
    };
    let opened = Token::open(config).await;
    opened.expect("a token that was just made")
}

/// Makes a token in `home`, and lets this process know where it is.
#[allow(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "SoftHSM is told its folder by the environment alone, of this very process"
)]
fn make(home: &Path) {
    fs::create_dir_all(home.join("tokens")).expect("a folder for the token");
    let config = home.join("softhsm2.conf");
    let settings = format!(
        "directories.tokendir = {}\nlog.level = ERROR\n",
        home.join("tokens").display()
    );
    fs::write(&config, settings).expect("write the token's configuration");
    let made = Command::new("softhsm2-util")
        .args(["--init-token", "--free", "--label", LABEL])
        .args(["--so-pin", "1234", "--pin", PIN])
        .env("SOFTHSM2_CONF", &config)
        .output()
        .expect("run softhsm2-util");
    assert!(made.status.success(), "{made:?}");
    // SAFETY: Rust's own readers of the environment share a lock with this; of C code only the
    // module reads this name, and it is loaded after this, by this thread's caller.
    unsafe { env::set_var("SOFTHSM2_CONF", &config) };
}

#[allow(
    clippy::disallowed_methods,
    reason = "the tests have no settings but these"
)]
pub(crate) fn module() -> PathBuf {
    env::var_os("SEALWARD_TEST_SOFTHSM")
        .expect("SEALWARD_TEST_SOFTHSM names SoftHSM's module; ./dev test sets it")
        .into()
}

/// Removes the tokens of processes that have ended.
fn sweep() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may sweep at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
