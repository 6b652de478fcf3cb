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
    let first = Document::read("README.md");
    let linked: BTreeSet<PathBuf> = links(&first)
        .into_iter()
        .map(|(_, target)| PathBuf::from(target))
        .collect();
    for document in markdown::all() {
        if document.path.starts_with("docs") {
            assert!(linked.contains(&document.path), "{:?}", document.path);
        }
    }
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
    anchor.is_empty()
        || Document::read(&path)
            .anchors()
            .iter()
            .any(|it| it == anchor)
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
