//! The HSM guides have the same form: settings that name a token, the evidence for the page, and a
//! source for each limit. `configuration.rs` checks that the settings are accepted.

use std::fs;

use engine::settings::{Environment, Settings};

use super::configuration::temporary;
use super::markdown::{self, Document};

const HEADINGS: [&str; 3] = ["settings", "check-the-token", "known-limits"];

#[test]
fn every_guide_has_settings_with_one_token() {
    for guide in guides() {
        let path = guide.path.display();
        let blocks = guide.blocks();
        let settings: Vec<_> =
            blocks.iter().filter(|block| block.words == ["toml", "settings"]).collect();
        let [settings] = settings.as_slice() else {
            panic!("{path}: must have one block of settings");
        };
        let file = temporary(&settings.text);
        let loaded = Settings::load(Some(&file), &Environment::default());
        fs::remove_file(&file).expect("remove the example");
        let loaded = loaded.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(loaded.hsm.tokens.len(), 1, "{path}");
    }
}

#[test]
fn every_guide_states_its_evidence() {
    for guide in guides() {
        let path = guide.path.display();
        let (_, evidence) = guide
            .text
            .split_once("**Evidence:** ")
            .unwrap_or_else(|| panic!("{path} states no evidence"));
        let run = ["softhsm2.md", "kryoptic.md", "opencryptoki.md", "tpm.md"];
        let was_run = run.iter().any(|file| guide.path.ends_with(file));
        let says_not_run = evidence.lines().take(3).any(|line| line.contains("It was not run."));
        assert!(says_not_run || was_run, "{path}");
        let anchors = guide.anchors();
        for heading in HEADINGS {
            assert!(anchors.iter().any(|it| it == heading), "{path}: {heading}");
        }
    }
}

#[test]
fn every_limit_has_a_source() {
    for guide in guides() {
        let rows = guide.rows_under("Known limits");
        assert!(!rows.is_empty(), "{}", guide.path.display());
        for row in rows {
            let [limit, effect, source] = row.as_slice() else {
                panic!("a row must have three cells: {row:?}");
            };
            assert!(!effect.is_empty(), "{limit}");
            assert!(source.contains("](https://") || source.starts_with("Run"), "{limit}");
        }
    }
}

fn guides() -> Vec<Document> {
    let mut guides = markdown::all();
    guides.retain(|document| {
        document.path.starts_with("docs/hsm") && !document.path.ends_with("README.md")
    });
    assert_eq!(guides.len(), 9);
    guides
}
