//! The drill of a restore: whether the data of a dump and the keys in the token belong together, and nobody has
//! changed them.
//!
//! The restored database has the row key of the service, so that a row of one of them would count in the other
//! one. The drill therefore only reads it.

mod examine;
mod metric;
mod report;
mod scratch;
mod store;

pub use self::examine::{Examination, examine};
pub use self::metric::metric;
pub use self::report::{DrillReport, Dump, Restoration};
pub use self::scratch::ScratchDatabase;
