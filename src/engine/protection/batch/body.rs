//! The bodies of batches.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::kind::Batch;
use crate::protection::body::{Described, ReadMember, Schemas, add, borrowed_request, item_of};
use crate::protection::{
    Body, ProtectRequest, ProtectedPayload, RewrapRequest, RewrappedPayload, UnprotectRequest,
    Unprotected,
};
use crate::request_tag::RequestTag;
use formats::json::{Members, Text, Verbatim};
use formats::problem::{Code, Problem, Problems};

/// The most items of a batch.
pub const MOST_ITEMS: usize = 1_000;

borrowed_request! {
    /// Payloads to protect.
    ProtectBatch<'a> {
        items "items": Items<'a, ProtectRequest<'static>>,
    }
}

borrowed_request! {
    /// Envelopes to open. You can send back the complete response of `/protect/batch` or
    /// `/rewrap/batch`.
    UnprotectBatch<'a> {
        items "items": Items<'a, RequestItem<UnprotectRequest<'static>>>,
    } or answer of a batch
}

borrowed_request! {
    /// Envelopes to rewrap. You can send back the complete response of `/protect/batch` or
    /// `/rewrap/batch`.
    RewrapBatch<'a> {
        items "items": Items<'a, RequestItem<RewrapRequest<'static>>>,
    } or answer of a batch
}

/// The results of `/protect/batch`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProtectedBatch<'a> {
    pub(super) request_id: &'a RequestTag,
    /// The results in the order of the items.
    #[schema(value_type = Vec<ProtectedItem>, min_items = 1, max_items = 1_000)]
    pub(super) items: Results<'a>,
}

/// The results of `/unprotect/batch`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnprotectedBatch<'a> {
    pub(super) request_id: &'a RequestTag,
    /// The results in the order of the items.
    #[schema(value_type = Vec<UnprotectedItem>, min_items = 1, max_items = 1_000)]
    pub(super) items: Results<'a>,
}

/// The results of `/rewrap/batch`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RewrappedBatch<'a> {
    pub(super) request_id: &'a RequestTag,
    /// The results in the order of the items.
    #[schema(value_type = Vec<RewrappedItem>, min_items = 1, max_items = 1_000)]
    pub(super) items: Results<'a>,
}

type ProtectedItem = ResultItem<ProtectedPayload<'static>>;
type UnprotectedItem = ResultItem<Unprotected<'static>>;
type RewrappedItem = ResultItem<RewrappedPayload<'static>>;

/// The items of the body of a batch.
pub(super) fn items_of(batch: Batch, text: Text<'_>) -> Result<Vec<Text<'_>>, Problems> {
    let names = match batch {
        Batch::Protect => ProtectBatch::MEMBERS,
        Batch::Unprotect => UnprotectBatch::MEMBERS,
        Batch::Rewrap => RewrapBatch::MEMBERS,
    };
    let mut members = Members::exactly(text, names);
    let from = &mut members;
    let items = match batch {
        Batch::Protect => ProtectBatch::read(from).map(|body| body.items.texts),
        Batch::Unprotect => UnprotectBatch::read(from).map(|body| body.items.texts),
        Batch::Rewrap => RewrapBatch::read(from).map(|body| body.items.texts),
    };
    members.finish(|| items)
}

/// The items of a request. Each has the schema of `T`.
pub(super) struct Items<'a, T> {
    texts: Vec<Text<'a>>,
    schema: PhantomData<fn() -> T>,
}

impl<'a, T: Described> ReadMember<'a> for Items<'a, T> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let Some(texts) = members.required(name)?.elements(MOST_ITEMS + 1) else {
            members.note(Problem::new(name, Code::Type, "must be an array"));
            return None;
        };
        if !(1..=MOST_ITEMS).contains(&texts.len()) {
            let message = format!("must have 1 to {MOST_ITEMS} items");
            members.note(Problem::new(name, Code::Length, message));
            return None;
        }
        let schema = PhantomData;
        Some(Self { texts, schema })
    }
}

impl<T: Described> Described for Items<'_, T> {
    fn schema() -> RefOr<Schema> {
        let array = ArrayBuilder::new().items(T::schema());
        array.min_items(Some(1)).max_items(Some(MOST_ITEMS)).into()
    }

    fn schemas(schemas: &mut Schemas) {
        T::schemas(schemas);
    }
}

impl<T> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.texts.fmt(f)
    }
}

/// The bodies of all items, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a>(pub(super) &'a [Body]);

impl Results<'_> {
    /// The bytes that they take.
    pub(super) fn length(self) -> usize {
        self.0.iter().map(|body| body.0.len() + 1).sum()
    }
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = str::from_utf8(&self.0).map_err(S::Error::custom)?;
        Verbatim(text).serialize(serializer)
    }
}

/// The schema of an item of a request: the body of the single request.
pub(super) struct RequestItem<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for RequestItem<T> {
    fn schema() -> RefOr<Schema> {
        let about = "An item, as in the body of the single request. `status` is ignored.";
        item_of::<T, _>(about, [("status", status())]).into()
    }
}

impl<T: ToSchema> ToSchema for RequestItem<T> {
    fn name() -> Cow<'static, str> {
        item_name::<T>()
    }

    fn schemas(schemas: &mut Schemas) {
        T::schemas(schemas);
    }
}

impl<T: ToSchema> Described for RequestItem<T> {
    fn schema() -> RefOr<Schema> {
        Ref::from_schema_name(item_name::<T>()).into()
    }

    fn schemas(schemas: &mut Schemas) {
        add::<Self>(schemas);
    }
}

/// The schema of a result: the response to the single request, or an error.
pub(super) struct ResultItem<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for ResultItem<T> {
    fn schema() -> RefOr<Schema> {
        let about = "The result of an item: the response to the single request without `requestId`, or \
                     an error.";
        let error = Ref::from_schema_name("ErrorObject");
        let more = [("status", status()), ("error", error.into())];
        let mut item = item_of::<T, _>(about, more);
        item.required.push("status".to_owned());
        item.into()
    }
}

impl<T: ToSchema> ToSchema for ResultItem<T> {
    fn name() -> Cow<'static, str> {
        item_name::<T>()
    }

    fn schemas(schemas: &mut Schemas) {
        T::schemas(schemas);
    }
}

/// `ProtectedItem` for `ProtectedPayload`, and `UnprotectItem` for `UnprotectRequest`.
fn item_name<T: ToSchema>() -> Cow<'static, str> {
    let single = T::name();
    let stem = single.trim_end_matches("Payload").trim_end_matches("Request");
    format!("{stem}Item").into()
}

/// The HTTP status that the single call would have.
fn status() -> RefOr<Schema> {
    let status = ObjectBuilder::new().schema_type(Type::Integer);
    status.minimum(Some(200)).maximum(Some(599)).into()
}
