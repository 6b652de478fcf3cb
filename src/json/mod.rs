//! Reading JSON as text: what came in is checked in one pass and then pointed into, never rebuilt.
//!
//! A [`Text`] is proof of the check: UTF-8, the grammar of RFC 8259, at most [`MAX_DEPTH`] levels.
//! [`Members`] reads an object of it that we interpret: refuses duplicate names, hands out members
//! as they stand in the text, and gathers every problem instead of stopping at the first. A payload
//! thus stays what it was to the letter, and `null` stays apart from absence.

mod members;
mod scan;
mod text;

pub use members::Members;
pub use scan::{MAX_DEPTH, NotJson};
pub use text::{Kind, NotUnicode, Text};
