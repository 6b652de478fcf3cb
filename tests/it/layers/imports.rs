//! The imports between the files of a crate.
//!
//! Paths are resolved through re-exports to the file that declares the item, so that
//! `super::Recorder` leads to `recorder.rs` and not to the `mod.rs` that re-exports it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module with its own file.
struct Module {
    file: PathBuf,
    /// The code without comments, attributes, unit tests and `use` statements.
    code: String,
    uses: Vec<Use>,
}

/// One leaf of a `use` statement.
struct Use {
    path: Vec<String>,
    /// The bound name, or `*` for a glob.
    name: String,
    reexport: bool,
}

/// Each file in a crate's `src` folder with the files that declare the items it uses.
pub(super) fn edges(source: &Path) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let modules = modules(source);
    assert!(modules.len() > 20, "the sources were not found");
    let mut edges = BTreeMap::new();
    for (at, module) in &modules {
        let imported = module.uses.iter().filter(|import| !import.reexport);
        let mut paths: Vec<Vec<String>> = imported.map(|import| import.path.clone()).collect();
        paths.extend(inline_paths(&module.code));
        let named = paths.iter().filter_map(|path| {
            let start = absolute(&modules, at, path)?;
            let (target, rest) = resolve(&modules, &start, 0)?;
            // A path to a module without an item of it does not use its code.
            (target != *at && (rest || !is_parent(&target, at)))
                .then(|| modules[&target].file.clone())
        });
        edges.insert(module.file.clone(), named.collect());
    }
    edges
}

fn is_parent(module: &[String], child: &[String]) -> bool {
    child.starts_with(module)
}

fn modules(source: &Path) -> BTreeMap<Vec<String>, Module> {
    let mut files = Vec::new();
    super::collect_files(source, &mut files);
    let files = files.into_iter().filter(|file| {
        let name = file.file_name().unwrap();
        let in_tests = file.components().any(|part| part.as_os_str() == "tests");
        name != "main.rs" && name != "tests.rs" && !in_tests
    });
    files
        .map(|file| {
            let relative = file.strip_prefix(source).unwrap().with_extension("");
            let mut at: Vec<String> = relative
                .components()
                .map(|part| part.as_os_str().to_str().unwrap().to_owned())
                .collect();
            if matches!(at.last().map(String::as_str), Some("mod" | "lib")) {
                at.pop();
            }
            let text = bare(&fs::read_to_string(&file).unwrap());
            let (code, uses) = split_uses(&text);
            let file = file.strip_prefix(source).unwrap().to_owned();
            (at, Module { file, code, uses })
        })
        .collect()
}

/// `text` without comments, attributes and unit tests.
fn bare(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .filter(|line| !line.trim_start().starts_with("#["));
    lines.collect::<Vec<_>>().join("\n")
}

fn split_uses(text: &str) -> (String, Vec<Use>) {
    let mut code = String::new();
    let mut uses = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let statement = trimmed.strip_prefix("use ").map(|rest| (false, rest));
        let statement = statement.or_else(|| {
            let rest = trimmed.strip_prefix("pub")?;
            let (_, rest) = rest.split_once("use ")?;
            let visibility = &trimmed[3..trimmed.len() - rest.len() - 4];
            let is_visibility = visibility.trim().is_empty() || visibility.starts_with('(');
            is_visibility.then_some((true, rest))
        });
        let Some((reexport, first)) = statement else {
            code.push_str(line);
            code.push('\n');
            continue;
        };
        let mut whole = first.to_owned();
        while !whole.contains(';') {
            whole.push_str(lines.next().unwrap_or(";"));
        }
        let tree: String = whole.split(';').next().unwrap().trim().to_owned();
        leaves(&[], &tree, reexport, &mut uses);
    }
    (code, uses)
}

fn leaves(prefix: &[String], tree: &str, reexport: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(segments(head));
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        for member in outer_commas(group) {
            leaves(&prefix, member, reexport, uses);
        }
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut path: Vec<String> = prefix.iter().cloned().chain(segments(path)).collect();
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    uses.push(Use {
        path,
        name,
        reexport,
    });
}

fn segments(path: &str) -> Vec<String> {
    let parts = path.split("::").map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn outer_commas(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    members.push(&group[start..]);
    members
}

/// All paths of at least two segments in `code`.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let is_part = |character: char| character.is_alphanumeric() || "_:".contains(character);
    for word in code.split(|character: char| !is_part(character)) {
        let parts = segments(word);
        let begins = parts.first().and_then(|part| part.chars().next());
        if parts.len() > 1 && begins.is_some_and(|first| first.is_lowercase()) {
            paths.push(parts);
        }
    }
    paths
}

/// The path from the root of the crate, or none for a path into another crate.
fn absolute(
    modules: &BTreeMap<Vec<String>, Module>,
    at: &[String],
    path: &[String],
) -> Option<Vec<String>> {
    let mut base = at.to_vec();
    let mut parts = path;
    match parts.first()?.as_str() {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            base.pop();
        }
        first => {
            let mut child = at.to_vec();
            child.push(first.to_owned());
            if modules.contains_key(&child) {
                child.extend(parts[1..].iter().cloned());
                return Some(child);
            }
            let import = modules[at]
                .uses
                .iter()
                .find(|import| import.name == first)?;
            if import.path.first()? == first {
                return None;
            }
            let mut path = absolute(modules, at, &import.path)?;
            path.extend(parts[1..].iter().cloned());
            return Some(path);
        }
    }
    parts = &parts[1..];
    while parts.first().is_some_and(|part| part == "super") {
        base.pop();
        parts = &parts[1..];
    }
    base.extend(parts.iter().cloned());
    Some(base)
}

/// The module that `path` leads to, and whether `path` names an item in it.
fn resolve(
    modules: &BTreeMap<Vec<String>, Module>,
    path: &[String],
    depth: usize,
) -> Option<(Vec<String>, bool)> {
    let length = (0..=path.len())
        .rev()
        .find(|length| modules.contains_key(&path[..*length]))?;
    let (at, rest) = path.split_at(length);
    let Some(name) = rest.first().filter(|_| depth < 8) else {
        return Some((at.to_vec(), false));
    };
    let imports = &modules[at].uses;
    let named = imports.iter().filter(|import| import.name == *name);
    let globs = imports.iter().filter(|import| import.name == "*");
    for import in named.chain(globs) {
        let Some(mut target) = absolute(modules, at, &import.path) else {
            continue;
        };
        if import.name == "*" {
            target.pop();
            target.extend(rest.iter().cloned());
            let found = resolve(modules, &target, depth + 1);
            if found.as_ref().is_some_and(|(found, _)| {
                found != at && modules[found].code.contains(&format!(" {name}"))
            }) {
                return found;
            }
        } else {
            target.extend(rest[1..].iter().cloned());
            return resolve(modules, &target, depth + 1);
        }
    }
    Some((at.to_vec(), true))
}
