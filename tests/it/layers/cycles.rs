//! Import cycles of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Edges = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Cycles of more than two files or across folders. Cycles of two files in one folder are allowed.
pub(super) fn forbidden(edges: &Edges) -> Vec<BTreeSet<PathBuf>> {
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for file in edges.keys() {
        if seen.contains(file) {
            continue;
        }
        let below = reachable(edges, file);
        let cycle: BTreeSet<PathBuf> = below
            .into_iter()
            .filter(|other| reachable(edges, other).contains(file))
            .collect();
        seen.extend(cycle.iter().cloned());
        let folders: BTreeSet<_> = cycle.iter().map(|file| folder(file)).collect();
        if cycle.len() > 2 || folders.len() > 1 {
            cycles.push(cycle);
        }
    }
    cycles
}

/// The edges of `cycle`, one per line.
pub(super) fn describe(edges: &Edges, cycle: &BTreeSet<PathBuf>) -> String {
    let mut lines = vec![format!("an import cycle of {} files:", cycle.len())];
    for file in cycle {
        for other in edges[file].intersection(cycle) {
            lines.push(format!("  {} imports {}", file.display(), other.display()));
        }
    }
    lines.join("\n")
}

/// The folder of a file: `keys` for `keys/mod.rs`.
fn folder(file: &Path) -> &Path {
    file.parent().unwrap()
}

/// The files that `file` imports directly or indirectly.
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
