//! The changes that can need the approval of another person.

mod judge;
mod kind;

pub use self::kind::ChangeKind;
