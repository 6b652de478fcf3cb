//! Files that depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Edges = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The circles that are not allowed: of more than two files, or across folders.
pub(super) fn forbidden(edges: &Edges) -> Vec<BTreeSet<PathBuf>> {
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for file in edges.keys() {
        if seen.contains(file) {
            continue;
        }
        let below = reachable(edges, file);
        let circle: BTreeSet<PathBuf> = below
            .into_iter()
            .filter(|other| reachable(edges, other).contains(file))
            .collect();
        seen.extend(circle.iter().cloned());
        let folders: BTreeSet<_> = circle.iter().map(|file| folder(file)).collect();
        if circle.len() > 2 || folders.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

/// The arrows inside `circle`, one a line.
pub(super) fn describe(edges: &Edges, circle: &BTreeSet<PathBuf>) -> String {
    let mut lines = vec![format!("a circle of {} files:", circle.len())];
    for file in circle {
        for other in edges[file].intersection(circle) {
            lines.push(format!("  {} names {}", file.display(), other.display()));
        }
    }
    lines.join("\n")
}

/// Where a file stands: `keys/mod.rs` stands in `keys`.
fn folder(file: &Path) -> &Path {
    file.parent().unwrap()
}

/// The files that `file` reaches over any number of arrows.
fn reachable(edges: &Edges, file: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(next) = open.pop() {
        for other in edges.get(next).into_iter().flatten() {
            if found.insert(other.clone()) {
                open.push(other);
            }
        }
    }
    found
}
