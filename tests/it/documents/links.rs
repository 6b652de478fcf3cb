//! Links within the repository resolve.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::markdown::{self, Document, top};

#[test]
fn every_link_leads_to_an_existing_file_and_heading() {
    let mut wrong = Vec::new();
    for document in markdown::all() {
        for (line, target) in links(&document) {
            if !resolves(&document, target) {
                wrong.push(format!("{}:{line}: {target}", document.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_readme_links_to_every_guide() {
    let linked = linked_from("README.md");
    for document in markdown::all() {
        if document.path.parent() == Some(Path::new("docs")) {
            assert!(linked.contains(&document.path), "{:?}", document.path);
        }
    }
    assert!(linked.contains(Path::new("docs/hsm/README.md")));
}

#[test]
fn the_installation_overview_links_to_every_page() {
    let linked = linked_from("docs/install.md");
    for document in markdown::all() {
        if document.path.starts_with("docs/install") {
            assert!(linked.contains(&document.path), "{:?}", document.path);
        }
    }
}

#[test]
fn the_hsm_overview_links_to_every_page() {
    let linked = linked_from("docs/hsm/README.md");
    for document in markdown::all() {
        if document.path.starts_with("docs/hsm") && !document.path.ends_with("README.md") {
            assert!(linked.contains(&document.path), "{:?}", document.path);
        }
    }
}

/// The files that the document links to.
pub(super) fn linked_from(path: impl AsRef<Path>) -> BTreeSet<PathBuf> {
    let document = Document::read(path);
    let folder = document.path.parent().unwrap_or(Path::new(""));
    links(&document).into_iter().map(|(_, target)| normalized(&folder.join(target))).collect()
}

/// The targets of links and images with their line numbers.
fn links(document: &Document) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in document.prose() {
        for (start, end) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')] {
            for part in line.split(start).skip(1) {
                found.extend(part.split_once(end).map(|(target, _)| (number, target)));
            }
        }
    }
    found
}

fn resolves(document: &Document, target: &str) -> bool {
    if target.starts_with("https://") {
        return true;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        document.path.clone()
    } else {
        let folder = document.path.parent().unwrap_or(Path::new(""));
        normalized(&folder.join(path))
    };
    if !top().join(&path).exists() {
        return false;
    }
    anchor.is_empty() || Document::read(&path).anchors().iter().any(|it| it == anchor)
}

/// The path without `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            found.pop();
        } else {
            found.push(part);
        }
    }
    found
}
