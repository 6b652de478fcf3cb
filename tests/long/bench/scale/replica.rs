//! Creates a second token with the keys of the first, as vendor tools do. For SoftHSM2 it copies the
//! token's folder and changes the label and the serial number.

use std::fs;
use std::path::Path;

use testkit::{LABEL, Site};

/// The file in which SoftHSM2 stores the token's own attributes.
const OWN: &str = "token.object";

/// Adds the `number`th token to the site and its settings. The service must not run.
pub(super) fn add(site: &Site, number: usize) {
    let tokens = site.file("token/tokens");
    let mut there = fs::read_dir(&tokens).expect("the tokens").flatten();
    let first = there.find(|entry| position(&entry.path().join(OWN), LABEL).is_some());
    let first = first.expect("the first token").path();
    let name = first.file_name().expect("a name").to_string_lossy();
    // SoftHSM2 derives the serial number from the end of the folder's name.
    let serial: String = name.chars().skip(19).filter(|it| *it != '-').collect();
    let other = |text: &str| format!("{}{number}", &text[..text.len() - 1]);
    let copy = tokens.join(other(&name));
    fs::create_dir(&copy).expect("another token");
    for entry in fs::read_dir(&first).expect("its objects").flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("a copy");
    }
    let label = other(LABEL);
    rename(&copy.join(OWN), &[(LABEL, &label), (&serial, &other(&serial))]);
    let settings = fs::read_to_string(site.settings()).expect("the settings");
    let (_, token) = settings.split_once("[[hsm.tokens]]").expect("a token");
    let token = token.split("[[hsm.tokens]]").next().expect("its settings");
    let token = token.replace(&format!("label = \"{LABEL}\""), &format!("label = \"{label}\""));
    fs::write(site.settings(), format!("{settings}[[hsm.tokens]]{token}")).expect("more settings");
}

/// Replaces names with others of the same length.
fn rename(file: &Path, names: &[(&str, &str)]) {
    for (old, new) in names {
        let begin = position(file, old).expect("the name of the token");
        let mut bytes = fs::read(file).expect("the token");
        bytes[begin..begin + new.len()].copy_from_slice(new.as_bytes());
        fs::write(file, bytes).expect("the token under another name");
    }
}

/// The position of a text in a file.
fn position(file: &Path, text: &str) -> Option<usize> {
    let bytes = fs::read(file).expect("the token");
    bytes.windows(text.len()).position(|it| it == text.as_bytes())
}
