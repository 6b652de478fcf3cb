//! Reads JSON as text: a text is checked in one pass, and values point into it without copies.
//!
//! A [`Text`] is proof of the check: UTF-8, the grammar of RFC 8259, at most [`MAX_DEPTH`] levels.
//! [`Members`] reads an object: it refuses duplicate names, returns members as their source text, and
//! collects all problems instead of the first one only. A payload therefore keeps its exact text,
//! and `null` is different from absence.

#![deny(clippy::wildcard_enum_match_arm)]

mod members;
mod scan;
mod text;
mod tree;
mod verbatim;

pub use members::Members;
pub use scan::{MAX_DEPTH, NotJson};
pub use text::{NotUnicode, Text, ValueKind};
pub use tree::NotATree;
pub use verbatim::Verbatim;
