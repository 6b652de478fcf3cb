//! What crates cannot say: the order of modules, import cycles and forbidden words. Reads no unit tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const CRATES: &str =
    "hsm/src src src/dashboard src/engine src/formats src/http src/kube-kms src/transit";
const APIS: &str = "src/dashboard src/http src/transit";
/// Items of other crates that files must not use: only stores have SQL, only extractors parse headers.
const FORBIDDEN: [[&str; 3]; 8] = [
    ["", "sqlx", "query"],
    ["", "sqlx", "QueryBuilder"],
    ["src/engine", "axum", "StatusCode"], // Functions that map outcomes to statuses are arguments.
    ["src/formats", "std", "fs"],
    ["src/formats", "std", "net"],
    [APIS, "hsm", "Token"], // They name states of tokens and use none.
    [APIS, "", "System"],   // They act with the right of their caller.
    ["src/http/admin src/http/discovery src/http/runtime", "axum", "HeaderMap"],
];
/// A literal with one of these counts as a query.
const SQL: [&str; 5] = ["SELECT ", "WHERE ", "INSERT INTO ", "UPDATE ", "DELETE FROM "];

type Segments = Vec<String>;
type Modules = BTreeMap<Segments, Module>;
/// The path of a `use` statement binds a name, and with `pub` it is a re-export. Others bind none.
type Role = Option<(String, bool)>;

/// A module with its own file.
struct Module {
    file: PathBuf,
    paths: Vec<(Segments, Role)>,
}

#[test]
fn modules_import_from_lower_layers_of_their_crate() {
    let mut wrong = BTreeSet::new();
    for folder in CRATES.split(' ') {
        let order = layers(folder);
        for (at, module) in modules(folder).iter().filter(|_| !order.is_empty()) {
            let Some(own) = at.first() else { continue };
            let layer = order.get(own).expect(own);
            let above = |path: &Segments| path.iter().take_while(|part| *part == "super").count();
            let is_whole = |path: &Segments| path[0] == "crate" || above(path) >= at.len();
            let paths = module.paths.iter().map(|(path, _)| path).filter(|path| is_whole(path));
            let named = paths.filter_map(|path| path.get(above(path).max(1)));
            let is_above = |it: &String| order.get(it).is_some_and(|it| it >= layer);
            for other in named.filter(|it| *it != own && is_above(it)) {
                wrong.insert(format!("{folder}/{:?}: `{own}` imports `{other}`", module.file));
            }
        }
    }
    assert!(wrong.is_empty(), "imports of higher layers: {wrong:#?}");
}

#[test]
fn files_form_no_import_cycles() {
    for folder in CRATES.split(' ') {
        let modules = modules(folder);
        let edges = modules.iter().map(|(at, it)| (it.file.clone(), imported(&modules, at, it)));
        let mut edges: BTreeMap<PathBuf, BTreeSet<PathBuf>> = edges.collect();
        // Without the files that import no others, again and again, only cycles remain.
        while let Some(last) = edges.keys().find(|file| edges[*file].is_empty()).cloned() {
            edges.remove(&last);
            edges.values_mut().for_each(|imported| imported.retain(|it| *it != last));
        }
        assert!(edges.is_empty(), "import cycles in {folder}, and what imports them: {edges:#?}");
    }
}

#[test]
fn crates_do_not_use_forbidden_words() {
    let mut wrong = BTreeSet::new();
    for folder in CRATES.split(' ') {
        for Module { file, paths } in modules(folder).values() {
            let file = format!("{folder}/{}", file.display());
            let is_sql = |part| ["store", "store.rs", "db.rs", "listener.rs"].contains(&part);
            let is_store = folder == "src/engine" && file.split('/').any(is_sql);
            for [places, root, word] in FORBIDDEN {
                let is_item = |part: &String| part == word || part.starts_with(&format!("{word}_"));
                let of_root = paths.iter().filter(|(path, _)| path[0].starts_with(root));
                let is_used = of_root.flat_map(|(path, _)| path).any(is_item);
                let is_here = places.split(' ').any(|place| file.starts_with(place));
                if is_here && is_used && !(is_store && root == "sqlx") {
                    wrong.insert(format!("{file}: {root}::{word}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "forbidden words: {wrong:#?}");
}

/// The layer of each module, from the table in the documentation of the crate.
fn layers(folder: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(Path::new(ROOT).join(folder).join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | ")?.split_once(" | "));
    rows.filter_map(|(layer, names)| Some((layer.trim().parse::<usize>().ok()?, names)))
        .flat_map(|(layer, names)| {
            let names = names.split('`').skip(1).step_by(2);
            names.map(move |name| (name.to_owned(), layer))
        })
        .collect()
}

/// The modules of a crate, without those of crates in its folder, without tests and without its build script.
fn modules(folder: &str) -> Modules {
    let source = Path::new(ROOT).join(folder);
    let (mut open, mut modules) = (vec![source.clone()], Modules::new());
    while let Some(path) = open.pop() {
        let file = path.strip_prefix(&source).unwrap().to_owned();
        let is_crate = path != source && path.join("Cargo.toml").exists();
        if path.is_dir() && !is_crate && !path.ends_with("tests") {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if file.extension().is_some_and(|it| it == "rs")
            && !["build.rs", "tests.rs"].iter().any(|other| file.ends_with(other))
        {
            let mut paths = Paths::default();
            paths.read(fs::read_to_string(path).unwrap().parse().unwrap(), &[]);
            let names = file.with_extension("");
            let names = names.iter().map(|part| part.to_str().unwrap().to_owned());
            let at = names.filter(|name| !["mod", "lib", "main"].contains(&name.as_str()));
            modules.insert(at.collect(), Module { file, paths: paths.found });
        }
    }
    assert!(modules.len() > 5, "the sources of {folder} were not found");
    modules
}

/// Collects the paths of tokens.
#[derive(Default)]
struct Paths {
    found: Vec<(Segments, Role)>,
    path: Segments,
    is_pub: bool,
    is_use: bool,
}

impl Paths {
    /// Reads tokens. The paths of a group after `::` begin with `prefix`.
    fn read(&mut self, tokens: TokenStream, prefix: &[String]) {
        let mut tokens = tokens.into_iter().peekable();
        let mut is_joined = !prefix.is_empty();
        self.path = prefix.to_vec();
        while let Some(token) = tokens.next() {
            let text = token.to_string();
            match (text.as_str(), token) {
                ("#", _) => {
                    let is_test = |it: &TokenTree| it.to_string().replace(' ', "") == "[cfg(test)]";
                    if tokens.next_if(is_test).is_some() {
                        tokens.find(|end| end.to_string().starts_with([';', '{', ',']));
                    }
                }
                (":", _) => is_joined = tokens.next_if(|next| next.to_string() == ":").is_some(),
                ("pub", _) => self.is_pub = true,
                ("use", _) => self.is_use = true,
                ("as", _) => self.finish(tokens.next()),
                ("*", _) if is_joined => self.path.push(text),
                (_, TokenTree::Group(group)) if is_joined && text.starts_with('{') => {
                    let prefix = std::mem::take(&mut self.path);
                    self.read(group.stream(), &prefix);
                }
                // A visibility names no item.
                (_, TokenTree::Group(_)) if text.starts_with("(in ") => {}
                (_, TokenTree::Group(group)) => {
                    self.finish(None);
                    let outside = (self.is_pub && text.starts_with('('), self.is_use);
                    (self.is_pub, self.is_use) = (false, false);
                    self.read(group.stream(), &[]);
                    (self.is_pub, self.is_use) = outside;
                }
                (_, TokenTree::Ident(_)) => {
                    if !std::mem::take(&mut is_joined) {
                        self.finish(None);
                    }
                    self.path.push(text);
                }
                (_, TokenTree::Literal(_)) if SQL.iter().any(|word| text.contains(word)) => {
                    self.found.push((vec!["sqlx".to_owned(), "query".to_owned()], None));
                }
                _ => {
                    self.finish(None);
                    match text.as_str() {
                        "," => self.path = prefix.to_vec(),
                        ";" => (self.is_pub, self.is_use) = (false, false),
                        _ => {}
                    }
                    is_joined = !self.path.is_empty();
                }
            }
        }
        self.finish(None);
    }

    /// Ends a path. That of a `use` statement binds its last segment or `name`.
    fn finish(&mut self, name: Option<TokenTree>) {
        let mut path = std::mem::take(&mut self.path);
        path.pop_if(|last| last == "self");
        if path.len() > 1 {
            let name = name.map_or_else(|| path[path.len() - 1].clone(), |name| name.to_string());
            self.found.push((path, self.is_use.then_some((name, self.is_pub))));
        }
    }
}

/// The files that declare what a module uses. A file knows the module that it is part of.
fn imported(modules: &Modules, at: &[String], module: &Module) -> BTreeSet<PathBuf> {
    let used = module.paths.iter().filter(|(_, role)| !matches!(role, Some((_, true))));
    let parent = at.split_last().and_then(|(_, parent)| modules.get(parent));
    used.filter_map(|(path, _)| declared(modules, at, path, 8))
        .filter(|file| *file != module.file && parent.is_none_or(|it| it.file != *file))
        .collect()
}

/// The file that declares the item of a path, through re-exports, or that of the module of a path.
fn declared(modules: &Modules, at: &[String], path: &[String], depth: usize) -> Option<PathBuf> {
    let (first, mut rest) = path.split_first()?;
    let mut base = at.to_vec();
    let child = |base: &[String], name: &String| [base, std::slice::from_ref(name)].concat();
    match first.as_str() {
        "crate" => base.clear(),
        "super" => drop(base.pop()),
        "self" => {}
        _ if modules.contains_key(&child(at, first)) => base.push(first.clone()),
        _ => return None,
    }
    while let Some((next, behind)) = rest.split_first() {
        if next == "super" {
            base.pop();
        } else if modules.contains_key(&child(&base, next)) {
            base.push(next.clone());
        } else {
            let module = modules.get(&base)?;
            let bound = module.paths.iter().filter(|_| depth > 0);
            let mut followed = bound.filter_map(|(path, role)| {
                let (of, item) = match role {
                    Some((name, _)) if name == next => (&path[..], behind),
                    Some((name, true)) if name == "*" => (&path[..path.len() - 1], rest),
                    Some(_) | None => return None,
                };
                declared(modules, &base, &[of, item].concat(), depth - 1)
            });
            return followed.next().or_else(|| Some(module.file.clone()));
        }
        rest = behind;
    }
    modules.get(&base).map(|module| module.file.clone())
}
