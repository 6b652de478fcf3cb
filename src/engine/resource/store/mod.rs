//! Resources in the database. A row that does not count does not exist.

mod examine;
mod renew;
mod reseal;
mod rows;
mod select;
mod whole;
mod write;

pub use self::examine::{examine, is_there, missing};
pub use self::renew::renew;
pub use self::reseal::{SeenRow, reseal, seen};
pub use self::rows::Rows;
pub use self::select::{Marked, Select, select};
pub(crate) use self::whole::fetch_whole;
pub use self::write::{insert, put, update};
pub(crate) use self::write::{insert_new, insert_new_as};
