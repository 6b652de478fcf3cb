//! What packages contain of the command line: completions and man pages. And where `--config` is an
//! argument.

use std::fs;
use std::process::Command;

use clap::Parser as _;
use sealward::command::Arguments;

use testkit::Scratch;

fn sealward(arguments: &[&str]) -> String {
    let mut command = Command::new(testkit::program());
    let output = command.args(arguments).output().expect("run the binary");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn bash_completes_the_commands() {
    let script = sealward(&["completions", "bash"]);
    let complete = "COMP_WORDS=(sealward \"$1\"); COMP_CWORD=1; _sealward sealward \"$1\" sealward; \
                    printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{script}\n{complete}"), "bash", "check"]);
    let output = bash.output().expect("run bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "check-config", "{output:?}");
    for shell in ["zsh", "fish"] {
        assert!(sealward(&["completions", shell]).contains("check-config"));
    }
}

#[test]
fn each_command_has_a_man_page() {
    let folder = Scratch::new();
    sealward(&["man-pages", folder.path().to_str().expect("text")]);
    for (page, text) in [
        ("sealward", "check\\-config"),
        ("sealward-serve", "Run the service"),
        ("sealward-api-key-create", "\\-\\-role"),
        ("sealward-protect", "The output is its envelope"),
        ("sealward-rewrap-all", "\\-\\-resume"),
        ("sealward-kube-kms", "KMS v2"),
        ("sealward-file-decrypt", "verify that it is complete"),
    ] {
        let file = folder.path().join(format!("{page}.1"));
        let found = fs::read_to_string(&file).expect("a man page");
        assert!(found.contains(text), "{text} is not in {page}:\n{found}");
    }
}

#[test]
fn only_commands_that_read_the_settings_have_config() {
    for reads in [
        &["serve"][..],
        &["migrate"],
        &["retain"],
        &["check-config"],
        &["doctor"],
        &["health"],
        &["api-key", "list"],
        &["emergency", "freeze", "--all"],
        &["person", "unlock", "ada"],
        &["audit", "init"],
        &["drill", "--dump", "a", "--scratch", "b", "--output", "c"],
    ] {
        let words = [&["sealward"], reads, &["--config", "a.toml"]].concat();
        assert!(Arguments::try_parse_from(&words).is_ok(), "{words:?}");
    }
    for reads_none in [
        &["completions", "bash"][..],
        &["man-pages", "."],
        &["report", "verify", "keys.json", "--keys", "report-keys.json"],
        &["protect", "--url", "https://example.com"],
        &["unprotect", "--url", "https://example.com"],
        &["rewrap", "--url", "https://example.com"],
        &["rewrap-all", "--url", "https://example.com", "--output", "new", "old"],
        &["file", "encrypt", "--url", "https://example.com", "a", "b"],
    ] {
        let words = [&["sealward"], reads_none].concat();
        assert!(Arguments::try_parse_from(&words).is_ok(), "{words:?}");
        let words = [&words[..], &["--config", "a.toml"]].concat();
        let refused = Arguments::try_parse_from(&words).expect_err("no such argument");
        assert!(refused.to_string().contains("--config"), "{refused}");
    }
}
