//! The screenshots in the documents show the present dashboard.
//!
//! `docs/images/digests.txt` has a digest of the visible content of each page in a screenshot, and
//! of the style sheet. `tests/outside/screenshots/run` writes it together with the screenshots. A digest
//! does not depend on comments, white space, link targets, IDs, keys, measured times or the version.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use html5ever::parse_document;
use html5ever::tendril::TendrilSink as _;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use sha2::{Digest as _, Sha256};

use super::links;
use super::markdown::{self, top};
use crate::dashboard;

const IMAGES: &str = "docs/images";
const DIGESTS: &str = "docs/images/digests.txt";
const STYLE: &str = "src/dashboard/style.css";

#[tokio::test]
async fn the_screenshots_show_the_present_dashboard() {
    let present = present().await;
    if must_write() {
        fs::write(top().join(DIGESTS), render(&present)).expect("write the digests");
        return;
    }
    let written = fs::read_to_string(top().join(DIGESTS)).expect("the digests");
    assert!(
        written == render(&present),
        "screenshots in {IMAGES} are older than the dashboard: create them with\n    \
         ./dev verify screenshots\nthen look at them. The present digests are:\n{}",
        render(&present)
    );
}

#[test]
fn the_documents_show_every_screenshot() {
    let mut shown = BTreeSet::new();
    for document in markdown::all() {
        shown.extend(links::linked_from(&document.path));
    }
    let pictures = pictures();
    assert!(!pictures.is_empty(), "{IMAGES} contains no screenshot");
    for picture in pictures {
        let path = Path::new(IMAGES).join(&picture);
        assert!(shown.contains(&path), "no document shows {path:?}");
    }
}

#[test]
fn a_digest_depends_on_the_visible_content_alone() {
    let page =
        |body: &str| visible_page(&format!("<!DOCTYPE html><title>x</title><body>{body}</body>"));
    let shown = page("<p class=\"wide\">Two keys</p>");
    for same in [
        "<!-- a comment --><p class=\"wide\">Two keys</p>",
        "<p  class='wide'>\n  Two\n  keys </p>",
        "<p class=\"wide\">Two keys</p><input type=\"hidden\" value=\"3\">",
    ] {
        assert_eq!(page(same), shown, "{same}");
    }
    for other in [
        "<p class=\"wide\">Three keys</p>",
        "<p class=\"narrow\">Two keys</p>",
        "<p class=\"wide\">Two <b>keys</b></p>",
        "<p class=\"wide\">Two keys</p><input type=\"text\">",
        "<div class=\"wide\">Two keys</div>",
    ] {
        assert_ne!(page(other), shown, "{other}");
    }
    let key = |id: &str| page(&format!("<p><a href=\"/keys/{id}\">{id}</a></p>"));
    let same = key("key_01kre8s1v0fx1ve7kz6n3d4a5b");
    assert_eq!(key("key_01kre8s1v0fx1ve7kz6n3d4a5c"), same);
    assert_ne!(key("a key"), same);
    assert_eq!(page("in 0.51 ms, for 4 seconds"), page("in 0.6 ms, for 5 minutes"));
    assert_eq!(visible_style("a { /* why */\n  color: red }"), "a { color: red }");
}

/// The file names of the screenshots.
fn pictures() -> Vec<String> {
    let entries = fs::read_dir(top().join(IMAGES)).expect("the images");
    entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a name"))
        .filter(|name| name.ends_with(".png"))
        .collect()
}

/// The digests of the pages in the screenshots and of the style sheet.
async fn present() -> BTreeMap<String, String> {
    let mut pages = BTreeSet::new();
    for picture in pictures() {
        // A name ends with the width and the color scheme.
        let page = picture.rsplitn(3, '-').last().expect("a page");
        pages.insert(page.to_owned());
    }
    let mut found = BTreeMap::new();
    for (name, html) in dashboard::sample_pages(&pages).await {
        found.insert(name, digest(&visible_page(&html)));
    }
    assert_eq!(pages, found.keys().cloned().collect(), "the pages of {IMAGES}");
    let style = fs::read_to_string(top().join(STYLE)).expect("the style sheet");
    found.insert("style.css".to_owned(), digest(&visible_style(&style)));
    found
}

fn render(digests: &BTreeMap<String, String>) -> String {
    let mut text =
        "# tests/outside/screenshots/run writes this file: what the screenshots show.\n".to_owned();
    for (name, digest) in digests {
        let _ = writeln!(text, "{digest}  {name}");
    }
    text
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The elements and texts of a page that a screenshot can show, one a line.
fn visible_page(html: &str) -> String {
    let page = parse_document(RcDom::default(), Default::default()).one(html);
    let mut text = String::new();
    add(&mut text, &page.document);
    text
}

fn add(text: &mut String, node: &Handle) {
    match &node.data {
        NodeData::Text { contents } => {
            let contents = contents.borrow();
            let mut words = contents.split_whitespace().peekable();
            while let Some(word) = words.next() {
                // The token and the database answer in real time.
                let is_measured = words.next_if(|next| is_unit(next)).is_some();
                let word = if is_measured { "…" } else { &redacted(word) };
                let _ = writeln!(text, "{word}");
            }
        }
        NodeData::Element { name, attrs, .. } => {
            let attributes = attrs.borrow();
            let attribute = |name: &str| attributes.iter().find(|it| &*it.name.local == name);
            let is_hidden = attribute("type").is_some_and(|it| &*it.value == "hidden");
            if is_hidden || &*name.local == "head" {
                return;
            }
            let _ = write!(text, "<{}", name.local);
            for attribute in attributes.iter() {
                let name = &*attribute.name.local;
                if !["href", "action", "name"].contains(&name) {
                    let words = attribute.value.split_whitespace();
                    let words: Vec<String> = words.map(redacted).collect();
                    let _ = write!(text, " {name}={:?}", words.join(" "));
                }
            }
            text.push_str(">\n");
            add_children(text, node);
            let _ = writeln!(text, "</{}>", name.local);
        }
        NodeData::Document => add_children(text, node),
        NodeData::Doctype { .. }
        | NodeData::Comment { .. }
        | NodeData::ProcessingInstruction { .. } => {}
    }
}

fn add_children(text: &mut String, node: &Handle) {
    for child in node.children.borrow().iter() {
        add(text, child);
    }
}

/// The word without random text, and without the version, which changes with each release.
fn redacted(word: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-+/=".contains(letter);
    let is_random = word.split(|letter| !is_part(letter)).any(|part| {
        let is_mixed =
            part.contains(|letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase());
        part.len() >= 20 && is_mixed
    });
    if is_random || word == env!("CARGO_PKG_VERSION") { "…".to_owned() } else { word.to_owned() }
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']);
    ["ms", "second", "seconds", "minute", "minutes", "hour", "hours"].contains(&word)
}

/// The style sheet without comments and extra white space.
fn visible_style(style: &str) -> String {
    let mut parts = style.split("/*");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once("*/").map_or("", |(_, rest)| rest));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[allow(clippy::disallowed_methods, reason = "tests/outside/screenshots/run sets this variable")]
fn must_write() -> bool {
    env::var_os("SEALWARD_TEST_PICTURES").is_some()
}
