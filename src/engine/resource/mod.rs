//! Resources that administrators manage. One declaration of their members defines the requests, their
//! documentation, the response, the row and the form.

#![deny(clippy::wildcard_enum_match_arm)]

mod columns;
mod declaration;
mod exact_json;
mod field;
mod member;
mod request;
mod request_declaration;
mod row;
mod store;
mod stored;
mod text;
mod value;

pub use self::columns::Columns;
pub use self::exact_json::ExactJson;
pub(crate) use self::field::camel_case;
pub use self::field::{Field, FieldInput};
pub use self::member::Member;
pub(crate) use self::request::with_required;
pub use self::request::{ChangeBody, Reader, RequestBody, ResourceRequest, SentBody, object};
pub use self::store::{
    Marked, Rows, SeenRow, Select, examine, insert, is_there, missing, put, renew, reseal, seen,
    select, update,
};
pub(crate) use self::store::{fetch_whole, insert_new, insert_new_as};
pub use self::stored::{ColumnGroup, Deletable, Deprivable, Identified, Stored, Touched};
pub use self::text::{Description, Name, Printable, Reason, Subject, is_hidden};
pub(crate) use self::value::positive;
pub(crate) use self::value::wrong_type;
pub use self::value::{Positive, Value, list, string};
