//! Holds the code to its architecture: imports only go down the floors that `src/lib.rs` lists, files
//! form no circles, and some rooms know nothing of the outside world.

mod circles;
mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a room must not so much as mention, beside the rooms above it.
const ABSENT: [(&str, &[&str]); 4] = [
    (
        "envelope",
        &["tokio", "sqlx", "axum", "tracing", "hsm", "std::fs"],
    ),
    (
        "material",
        &["tokio", "sqlx", "axum", "tracing", "hsm", "std::fs"],
    ),
    ("protection", &["sqlx", "axum"]),
    ("management", &["axum", "http::"]),
];

/// Where SQL may stand.
const SQL: [&str; 3] = ["store.rs", "db.rs", "listener.rs"];

#[test]
fn every_room_has_a_floor_and_every_floor_has_its_rooms() {
    let floors = floors();
    let built = rooms();
    for room in &built {
        assert!(
            floors.contains_key(room),
            "`{room}` stands on no floor: add it to the table in src/lib.rs"
        );
    }
    for room in floors.keys() {
        assert!(
            built.contains(room),
            "the table in src/lib.rs lists `{room}`, which is not built"
        );
    }
}

#[test]
fn imports_only_go_down() {
    let floors = floors();
    let mut wrong = Vec::new();
    for (room, file, text) in sources() {
        let Some(floor) = floors.get(&room) else {
            continue;
        };
        for named in rooms_named(&text, &floors) {
            if named != room && floors[&named] >= *floor {
                wrong.push(format!(
                    "{}: `{room}` ({floor}) names `{named}` ({})",
                    file.display(),
                    floors[&named]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports must go down:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn files_form_no_circles() {
    let hsm = Path::new(env!("CARGO_MANIFEST_DIR")).join("hsm/src");
    let found: Vec<String> = [source_folder(), hsm]
        .iter()
        .flat_map(|source| {
            let edges = imports::edges(source);
            let circles = circles::forbidden(&edges);
            circles
                .iter()
                .map(|circle| circles::describe(&edges, circle))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn rooms_do_not_know_what_they_should_not() {
    let mut wrong = Vec::new();
    for (room, file, text) in sources() {
        for (_, banned) in ABSENT.iter().filter(|(name, _)| *name == room) {
            for word in banned.iter().filter(|word| mentions(&text, word)) {
                wrong.push(format!("{}: `{room}` knows `{word}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rooms below `http` and `dashboard` name no HTTP status. They get the map from outcomes to statuses
/// as a function.
#[test]
fn rooms_below_http_know_no_status() {
    let floors = floors();
    let mut wrong = Vec::new();
    for (room, file, text) in sources() {
        if floors
            .get(&room)
            .is_none_or(|floor| *floor >= floors["http"])
        {
            continue;
        }
        let states = |line: &&str| line.contains("StatusCode") || sets_a_status(line);
        for line in text.lines().filter(states) {
            wrong.push(format!("{}: {}", file.display(), line.trim()));
        }
    }
    assert!(
        wrong.is_empty(),
        "statuses below http:\n{}",
        wrong.join("\n")
    );
}

/// Whether `line` gives a name that ends in `status` a number of three digits.
fn sets_a_status(line: &str) -> bool {
    line.match_indices("status").any(|(place, word)| {
        let value = line[place + word.len()..].trim_start();
        let value = value.strip_prefix(':').unwrap_or("").trim_start();
        let digits = value.chars().take_while(char::is_ascii_digit).count();
        digits == 3
    })
}

#[test]
fn sql_stands_in_stores() {
    let mut wrong = Vec::new();
    for (_, file, text) in sources() {
        let name = file.file_name().unwrap().to_str().unwrap();
        if !SQL.contains(&name)
            && (text.contains("sqlx::query")
                || text.contains("query_as(")
                || text.contains("QueryBuilder"))
        {
            wrong.push(file.display().to_string());
        }
    }
    assert!(
        wrong.is_empty(),
        "SQL outside a store.rs:\n{}",
        wrong.join("\n")
    );
}

/// The table in the docs of `src/lib.rs`: room to floor.
fn floors() -> BTreeMap<String, u32> {
    let text = fs::read_to_string(source_folder().join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| {
        let (floor, rooms) = row.split_once(" | ")?;
        Some((floor.trim().parse().ok()?, rooms.to_owned()))
    })
    .flat_map(|(floor, rooms): (u32, String)| {
        let names: Vec<String> = rooms
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        names.into_iter().map(move |name| (name, floor))
    })
    .collect()
}

fn rooms() -> Vec<String> {
    let entries = fs::read_dir(source_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "lib" && name != "main")
        .collect()
}

/// Room, file and code (without comments and unit tests) of everything in `src/`.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = source_folder();
    let mut files = Vec::new();
    gather(&root, &mut files);
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
            let room = first.trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            (
                room,
                relative.to_owned(),
                code.collect::<Vec<_>>().join("\n"),
            )
        })
        .collect()
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The rooms that `text` reaches by `crate::…`, in single and in grouped imports.
fn rooms_named(text: &str, floors: &BTreeMap<String, u32>) -> Vec<String> {
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
                .filter(|name| floors.contains_key(*name))
                .map(str::to_owned),
        );
    }
    named
}

/// The first names of the members of an import group, whose opening brace is already read.
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

/// Whether `text` has `word` where a name or path begins.
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
