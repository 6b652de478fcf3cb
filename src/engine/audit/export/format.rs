//! The formats of an export.

use serde::Serialize;
use uuid::Uuid;

/// A record that exports can write.
pub trait Exported: Serialize + 'static {
    /// The name of the file, without its extension.
    const FILE: &'static str;
    /// The columns in CSV: the members in NDJSON, in the same order, except `changed`.
    const COLUMNS: &'static [Column<Self>];
    /// The number of records per query and chunk.
    const CHUNK: u16;

    /// The identifier, which orders the records.
    fn uuid(&self) -> Uuid;
}

/// The name of a column and its text in a record.
pub(crate) type Column<R> = (&'static str, fn(&R) -> String);

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header line, then one line per record (RFC 4180). An apostrophe precedes text that
    /// spreadsheets would evaluate as a formula; the other format is exact.
    Csv,
    /// One JSON object per line.
    Ndjson,
}

impl Format {
    /// The media type of the file.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Ndjson => "application/x-ndjson",
        }
    }

    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }
    }

    pub(super) fn head<R: Exported>(self) -> Vec<u8> {
        match self {
            Self::Csv => csv_head(R::COLUMNS),
            Self::Ndjson => Vec::new(),
        }
    }

    pub(super) fn write<R: Exported>(self, record: &R, chunk: &mut Vec<u8>) {
        match self {
            Self::Csv => write_csv(R::COLUMNS, record, chunk),
            Self::Ndjson => {
                // Serializing plain fields to memory does not fail.
                let _ = record.serialize(&mut serde_json::Serializer::new(&mut *chunk));
                chunk.push(b'\n');
            }
        }
    }
}

/// Spreadsheets evaluate cells with these first characters. Some of them ignore spaces before, or take the full-width
/// forms for the same characters.
const FORMULA_STARTS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The text of an optional value.
pub(crate) fn cell(value: Option<&impl ToString>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

/// The whole file with these records.
pub(crate) fn csv<R>(columns: &[Column<R>], records: &[R]) -> Vec<u8> {
    let mut file = csv_head(columns);
    for record in records {
        write_csv(columns, record, &mut file);
    }
    file
}

fn csv_head<R>(columns: &[Column<R>]) -> Vec<u8> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    [names.join(",").as_bytes(), b"\r\n"].concat()
}

fn write_csv<R>(columns: &[Column<R>], record: &R, chunk: &mut Vec<u8>) {
    for (place, (_, text)) in columns.iter().enumerate() {
        if place > 0 {
            chunk.push(b',');
        }
        write_cell(&text(record), chunk);
    }
    chunk.extend_from_slice(b"\r\n");
}

fn write_cell(cell: &str, chunk: &mut Vec<u8>) {
    let formula = cell.starts_with(['\t', '\r']) || cell.trim_start().starts_with(FORMULA_STARTS);
    // Some spreadsheets separate cells with semicolons.
    if !formula && !cell.contains([',', ';', '"', '\r', '\n']) {
        chunk.extend_from_slice(cell.as_bytes());
        return;
    }
    chunk.push(b'"');
    if formula {
        chunk.push(b'\'');
    }
    // What follows a separator can be a cell of its own.
    let mut begins = false;
    for letter in cell.chars() {
        match letter {
            '"' => chunk.push(b'"'),
            start if begins && FORMULA_STARTS.contains(&start) => chunk.push(b'\''),
            _ => {}
        }
        begins = matches!(letter, ';' | '\r' | '\n') || (begins && letter.is_whitespace());
        chunk.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
    chunk.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_if_necessary_and_never_formulas() {
        let written = |cell| {
            let mut chunk = Vec::new();
            write_cell(cell, &mut chunk);
            String::from_utf8(chunk).unwrap()
        };
        assert_eq!(written("plain text"), "plain text");
        assert_eq!(written("a,b"), "\"a,b\"");
        assert_eq!(written("x;=1+1"), "\"x;'=1+1\"");
        assert_eq!(written("x; \"=1"), "\"x; \"\"=1\"");
        assert_eq!(written("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(written("=1+1"), "\"'=1+1\"");
        assert_eq!(written("@SUM(A1)"), "\"'@SUM(A1)\"");
        for formula in [" =1+1", "\u{a0}@A1", "\u{3000}+1", "＝1+1", "＋1", "－1", " ＠A1"] {
            assert_eq!(written(formula), format!("\"'{formula}\""));
        }
        assert_eq!(written("\n=1+1"), "\"'\n'=1+1\"");
        assert_eq!(written("2001:db8::1"), "2001:db8::1");
        assert_eq!(written(" a=b"), " a=b");
    }
}
