//! Resources that administrators manage. One declaration of their members defines the requests, their
//! documentation, the response, the row and the form.

#![deny(clippy::wildcard_enum_match_arm)]

mod declaration;
mod field;
mod member;
mod request;
mod reseal;
mod row;
mod rows;
mod store;
mod text;
mod value;

pub use self::field::{Field, Input, camel_case};
pub use self::member::Member;
pub use self::request::{
    ChangeBody, Reader, RequestBody, ResourceRequest, SentBody, object, with_required,
};
pub use self::reseal::reseal;
pub use self::rows::{Marked, Rows, Select, examine, select};
pub use self::store::{
    ColumnGroup, Columns, Deletable, Deprivable, Identified, Stored, Touched, insert, insert_new,
    update,
};
pub use self::text::{Description, Name, Person, Printable, is_hidden};
pub(crate) use self::value::wrong_type;
pub use self::value::{Positive, Value, list, string};
