//! The architecture of the code: modules import only from the lower layers of the table in
//! `src/lib.rs`, files form no import cycles, and some modules do no I/O.

mod cycles;
mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Names that must not occur in a module.
const FORBIDDEN: [(&str, &[&str]); 5] = [
    (
        "envelope",
        &["tokio", "sqlx", "axum", "tracing", "hsm", "std::fs"],
    ),
    (
        "material",
        &["tokio", "sqlx", "axum", "tracing", "hsm", "std::fs"],
    ),
    (
        "tlog",
        &["tokio", "sqlx", "axum", "tracing", "hsm", "std::fs"],
    ),
    ("protection", &["sqlx", "axum"]),
    ("management", &["axum", "http::"]),
];

/// The files that can contain SQL.
const SQL_FILES: [&str; 3] = ["store.rs", "db.rs", "listener.rs"];

#[test]
fn the_table_of_layers_lists_every_module() {
    let layers = layers();
    let existing = modules();
    for module in &existing {
        assert!(
            layers.contains_key(module),
            "add `{module}` to the table of layers in src/lib.rs"
        );
    }
    for module in layers.keys() {
        assert!(
            existing.contains(module),
            "the table of layers in src/lib.rs lists `{module}`, which does not exist"
        );
    }
}

#[test]
fn imports_are_from_lower_layers() {
    let layers = layers();
    let mut wrong = Vec::new();
    for (module, file, text) in sources() {
        let Some(layer) = layers.get(&module) else {
            continue;
        };
        for named in modules_named(&text, &layers) {
            if named != module && layers[&named] >= *layer {
                wrong.push(format!(
                    "{}: `{module}` ({layer}) imports `{named}` ({})",
                    file.display(),
                    layers[&named]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports must be from lower layers:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn files_form_no_import_cycles() {
    let hsm = Path::new(env!("CARGO_MANIFEST_DIR")).join("hsm/src");
    let found: Vec<String> = [source_folder(), hsm]
        .iter()
        .flat_map(|source| {
            let edges = imports::edges(source);
            let cycles = cycles::forbidden(&edges);
            cycles
                .iter()
                .map(|cycle| cycles::describe(&edges, cycle))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn modules_do_not_use_forbidden_names() {
    let mut wrong = Vec::new();
    for (module, file, text) in sources() {
        for (_, banned) in FORBIDDEN.iter().filter(|(name, _)| *name == module) {
            for word in banned.iter().filter(|word| mentions(&text, word)) {
                wrong.push(format!("{}: `{module}` uses `{word}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules below `http` and `dashboard` contain no HTTP status. The function that maps outcomes to
/// statuses is an argument.
#[test]
fn modules_below_http_contain_no_status() {
    let layers = layers();
    let mut wrong = Vec::new();
    for (module, file, text) in sources() {
        if layers
            .get(&module)
            .is_none_or(|layer| *layer >= layers["http"])
        {
            continue;
        }
        let has_status = |line: &&str| line.contains("StatusCode") || sets_status(line);
        for line in text.lines().filter(has_status) {
            wrong.push(format!("{}: {}", file.display(), line.trim()));
        }
    }
    assert!(
        wrong.is_empty(),
        "statuses below http:\n{}",
        wrong.join("\n")
    );
}

/// Whether `line` assigns a number of three digits to a name that ends in `status`.
fn sets_status(line: &str) -> bool {
    line.match_indices("status").any(|(place, word)| {
        let value = line[place + word.len()..].trim_start();
        let value = value.strip_prefix(':').unwrap_or("").trim_start();
        let digits = value.chars().take_while(char::is_ascii_digit).count();
        digits == 3
    })
}

#[test]
fn sql_is_in_store_files() {
    let mut wrong = Vec::new();
    for (_, file, text) in sources() {
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_in_store = file.components().any(|part| part.as_os_str() == "store");
        if !is_in_store
            && !SQL_FILES.contains(&name)
            && (text.contains("sqlx::query")
                || text.contains("query_as(")
                || text.contains("QueryBuilder"))
        {
            wrong.push(file.display().to_string());
        }
    }
    assert!(
        wrong.is_empty(),
        "SQL outside store.rs files and store/ folders:\n{}",
        wrong.join("\n")
    );
}

/// The layer of each module, from the table in the docs of `src/lib.rs`.
fn layers() -> BTreeMap<String, u32> {
    let text = fs::read_to_string(source_folder().join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| {
        let (layer, modules) = row.split_once(" | ")?;
        Some((layer.trim().parse().ok()?, modules.to_owned()))
    })
    .flat_map(|(layer, modules): (u32, String)| {
        let names: Vec<String> = modules
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        names.into_iter().map(move |name| (name, layer))
    })
    .collect()
}

fn modules() -> Vec<String> {
    let entries = fs::read_dir(source_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "lib" && name != "main")
        .collect()
}

/// The module, path and code of each file in `src/`, without comments and unit tests.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = source_folder();
    let mut files = Vec::new();
    collect_files(&root, &mut files);
    assert!(files.len() > 20, "the sources were not found");
    files
        .into_iter()
        .map(|file| {
            let relative = file.strip_prefix(&root).unwrap();
            let first = relative
                .components()
                .next()
                .unwrap()
                .as_os_str()
                .to_str()
                .unwrap();
            let module = first.trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            (
                module,
                relative.to_owned(),
                code.collect::<Vec<_>>().join("\n"),
            )
        })
        .collect()
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that `text` names as `crate::…`, in single and in grouped imports.
fn modules_named(text: &str, layers: &BTreeMap<String, u32>) -> Vec<String> {
    let mut named = Vec::new();
    for (place, _) in text.match_indices("crate::") {
        let rest = &text[place + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => members(group),
            None => vec![leading_name(rest)],
        };
        named.extend(
            names
                .into_iter()
                .filter(|name| layers.contains_key(*name))
                .map(str::to_owned),
        );
    }
    named
}

/// The first name of each member of an import group. `group` starts after the opening brace.
fn members(group: &str) -> Vec<&str> {
    let mut depth = 1;
    let mut names = vec![leading_name(group.trim_start())];
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(leading_name(group[place + 1..].trim_start())),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Whether `text` contains a path that starts with `word`.
fn mentions(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(place, _)| {
        let before = text[..place].chars().next_back().unwrap_or(' ');
        let after = text[place + word.len()..].chars().next().unwrap_or(' ');
        let path_follows = word.ends_with("::") || text[place + word.len()..].starts_with("::");
        !before.is_alphanumeric()
            && before != '_'
            && before != ':'
            && !after.is_alphanumeric()
            && path_follows
    })
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
