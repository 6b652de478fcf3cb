//! Reads the documents of the repository for the tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A document with its path in the repository.
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Block<'d> {
    /// The line number of its opening fence, from 1.
    pub(super) line: usize,
    /// The language and the marks after it.
    pub(super) words: Vec<&'d str>,
    pub(super) text: String,
    /// Whether only empty lines separate this block from the previous one.
    pub(super) follows: bool,
}

/// The root folder of the repository.
pub(super) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every document.
pub(super) fn all() -> Vec<Document> {
    let mut paths: Vec<PathBuf> = ["", "docs", "docs/hsm", "docs/install", "src/formats/envelope"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(top().join(folder)).expect("a folder of documents"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths.iter().map(Document::read).collect()
}

impl Document {
    /// Reads the document at `path`, which is absolute or relative to the repository.
    pub(super) fn read(path: impl AsRef<Path>) -> Self {
        let path = top().join(path);
        let text = fs::read_to_string(&path).expect("a document");
        let path = path.strip_prefix(top()).expect("a path in the repository");
        Self { path: path.to_owned(), text }
    }

    /// The fenced blocks, in order.
    pub(super) fn blocks(&self) -> Vec<Block<'_>> {
        let mut found: Vec<Block<'_>> = Vec::new();
        let mut open: Option<Block<'_>> = None;
        let mut follows = false;
        for (place, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), &mut open) {
                (Some(info), None) => {
                    open = Some(Block {
                        line: place + 1,
                        words: info.split_whitespace().collect(),
                        text: String::new(),
                        follows,
                    });
                }
                (Some(_), Some(_)) => {
                    found.extend(open.take());
                    follows = true;
                }
                (None, Some(block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => follows &= line.trim().is_empty(),
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.path.display());
        found
    }

    /// The lines outside fenced blocks with their numbers, from 1.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut inside = false;
        self.text.lines().enumerate().filter_map(move |(place, line)| {
            let is_fence = line.starts_with("```");
            let is_prose = !inside && !is_fence;
            inside ^= is_fence;
            is_prose.then_some((place + 1, line))
        })
    }

    /// The anchors of the headings.
    pub(super) fn anchors(&self) -> Vec<String> {
        self.prose()
            .filter(|(_, line)| line.starts_with('#'))
            .map(|(_, line)| anchor(line.trim_start_matches('#').trim()))
            .collect()
    }

    /// The rows of the tables under the heading `title` as cells, without header rows.
    pub(super) fn rows_under(&self, title: &str) -> Vec<Vec<&str>> {
        let mut lines = self.prose().map(|(_, line)| line);
        let level = lines
            .by_ref()
            .find_map(|line| {
                let level = line.len() - line.trim_start_matches('#').len();
                (level > 0 && line.trim_start_matches('#').trim() == title).then_some(level)
            })
            .unwrap_or_else(|| panic!("{} has no heading {title:?}", self.path.display()));
        let section = lines.take_while(|line| {
            let deep = line.len() - line.trim_start_matches('#').len();
            deep == 0 || deep > level
        });
        let rows = section.filter(|line| line.starts_with('|'));
        let mut found: Vec<Vec<&str>> = Vec::new();
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            if cells.iter().all(|cell| cell.trim_matches([':', '-']).is_empty()) {
                // The row above the rule is the header.
                found.pop();
            } else {
                found.push(cells);
            }
        }
        found
    }
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

/// The texts in backticks.
pub(super) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
