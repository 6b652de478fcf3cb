//! `.dockerignore` includes all files that the build requires.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::Scratch;

use super::{read, succeed, top};

#[test]
fn the_build_context_is_whole() {
    let context = Scratch::new();
    let ignore = read(".dockerignore");
    let mut lines = ignore.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("*"), "the file lists the included paths");
    for line in lines {
        let name = line.strip_prefix('!').expect("an included path");
        copy(&top().join(name), &context.path().join(name));
    }
    // Cargo checks every member of the workspace and every target.
    succeed(
        Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version=1"])
            .current_dir(context.path()),
    );
}

#[test]
fn the_program_only_embeds_files_of_its_build_context() {
    let ignore = read(".dockerignore");
    let included: Vec<_> = ignore.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let mut wrong = Vec::new();
    each_file(&top().join("src"), &mut |path| {
        if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs") {
            return;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for part in text.split("include_").skip(1) {
            let Some(name) = part.split('"').nth(1) else {
                continue;
            };
            let target = path.parent().expect("a folder").join(name);
            let target = target.canonicalize().unwrap_or(target);
            let inside = |name: &&str| target.starts_with(top().join(name));
            if !name.is_empty() && !included.iter().any(inside) {
                wrong.push(format!("{}: {name}", path.display()));
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
}

fn each_file(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            each_file(&path, visit);
        } else {
            visit(&path);
        }
    }
}
