//! The bodies of batches.

use std::fmt;
use std::marker::PhantomData;

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::protection::body::{
    Described, Head, ReadMember, Schemas, WriteMember, answer, merged, request,
};
use crate::protection::protect::{Dropped, PassedThrough, Protected};
use crate::protection::rewrap::RewrappedPayload;
use crate::protection::unprotect::Unprotected;
use crate::protection::{Body, ProtectRequest, Refusal, RewrapRequest, UnprotectRequest};
use formats::json::{Members, Text};
use formats::problem::{Code, Problem, Problems};

/// The most items of a batch.
pub(super) const MOST_ITEMS: usize = 1_000;

/// The items of a request.
#[derive(Debug)]
pub(super) struct Items<'a>(pub(super) Vec<Text<'a>>);

/// The bodies of all items, in order.
#[derive(Clone, Copy)]
pub(super) struct Results<'a>(pub(super) &'a [Body]);

impl Results<'_> {
    /// The bytes that they take.
    pub(super) fn length(self) -> usize {
        self.0.iter().map(|body| body.0.len() + 1).sum()
    }
}

/// Declares a batch: its request and answer, and the schemas of their items.
macro_rules! batches {
    ($($(#[doc = $about:literal])* $request:ident of $item:ty, $or:ident,
        $(#[doc = $about_answer:literal])* $answer:ident of $result:ident;)*) => {$(
        batches!(@ $or [$(#[doc = $about])*] $request $item);

        answer! {
            $(#[doc = $about_answer])*
            $answer<'a> {
                head "requestId": Head<'a>,
                /// The results in the order of the items.
                items "items": Of<Results<'a>, $result>,
            }
        }

        impl<'a> $request<'a> {
            /// Reads the items of a body.
            pub(super) fn items_of(text: Text<'a>) -> Result<Items<'a>, Problems> {
                let mut members = Members::exactly(text, Self::MEMBERS);
                let request = Self::read(&mut members);
                members.finish(|| request.map(|request| request.items.0))
            }
        }

        impl<'a> $answer<'a> {
            pub(super) fn of(head: Head<'a>, results: Results<'a>) -> Self {
                Self { head, items: Of(results, PhantomData) }
            }
        }
    )*};
    (@ sealing [$(#[doc = $about:literal])*] $request:ident $item:ty) => {
        request! {
            $(#[doc = $about])*
            $request<'a> {
                items "items": Of<Items<'a>, $item>,
            }
        }
    };
    (@ opening [$(#[doc = $about:literal])*] $request:ident $item:ty) => {
        request! {
            $(#[doc = $about])*
            $request<'a> {
                items "items": Of<Items<'a>, $item>,
            } or answer of a batch
        }
    };
}

batches! {
    /// Payloads to protect.
    ProtectBatch of ProtectRequest<'static>, sealing,
    /// The results of `/protect/batch`.
    ProtectedBatch of ProtectedItem;
    /// Envelopes to open. You can send back the complete response of `/protect/batch` or
    /// `/rewrap/batch`.
    UnprotectBatch of UnprotectItem, opening,
    /// The results of `/unprotect/batch`.
    UnprotectedBatch of UnprotectedItem;
    /// Envelopes to rewrap. You can send back the complete response of `/protect/batch` or
    /// `/rewrap/batch`.
    RewrapBatch of RewrapItem, opening,
    /// The results of `/rewrap/batch`.
    RewrappedBatch of RewrappedItem;
}

/// A list whose items have the schema of `T`.
pub(super) struct Of<L, T>(pub(super) L, PhantomData<fn() -> T>);

impl<'a, T: Described> ReadMember<'a> for Of<Items<'a>, T> {
    fn read(members: &mut Members<'a>, name: &str) -> Option<Self> {
        let Some(items) = members.required(name)?.elements(MOST_ITEMS + 1) else {
            members.note(Problem::new(name, Code::Type, "must be an array"));
            return None;
        };
        if !(1..=MOST_ITEMS).contains(&items.len()) {
            let message = format!("must have 1 to {MOST_ITEMS} items");
            members.note(Problem::new(name, Code::Length, message));
            return None;
        }
        Some(Self(Items(items), PhantomData))
    }
}

impl<T: Described> WriteMember for Of<Results<'_>, T> {
    fn write(&self, out: &mut String) -> Result<(), Refusal> {
        out.push('[');
        for (place, body) in self.0.0.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&body.0);
        }
        out.push(']');
        Ok(())
    }
}

impl<L: fmt::Debug, T> fmt::Debug for Of<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<L, T: Described> Described for Of<L, T> {
    fn schema() -> RefOr<Schema> {
        let array = ArrayBuilder::new().items(T::schema());
        array.min_items(Some(1)).max_items(Some(MOST_ITEMS)).into()
    }

    fn schemas(schemas: &mut Schemas) {
        T::schemas(schemas);
    }
}

/// The schema of an item, made of the schemas of the single call.
macro_rules! items {
    ($($(#[doc = $about:literal])* $openness:ident $item:ident: $($single:ty),*;)*) => {$(
        $(#[doc = $about])*
        pub(super) enum $item {}

        impl Described for $item {
            fn schema() -> RefOr<Schema> {
                Ref::from_schema_name(stringify!($item)).into()
            }

            fn schemas(schemas: &mut Schemas) {
                $(<$single as ToSchema>::schemas(schemas);)*
                let single = [$(<$single as PartialSchema>::schema()),*];
                let about = &[$($about),*];
                schemas.push((stringify!($item).to_owned(), items!(@ $openness about single)));
            }
        }
    )*};
    (@ answer $about:ident $single:ident) => {{
        let error = Ref::from_schema_name("ErrorObject");
        let RefOr::T(Schema::Object(mut object)) =
            merged(true, $about, $single, [("status", status()), ("error", error.into())])
        else {
            return;
        };
        object.required.push("status".to_owned());
        RefOr::T(Schema::Object(object))
    }};
    (@ opening $about:ident $single:ident) => {
        merged(false, $about, $single, [("status", status())])
    };
}

items! {
    /// An envelope to open, as in the body of `/unprotect`. `status` is ignored.
    opening UnprotectItem: UnprotectRequest<'static>;
    /// An envelope to rewrap, as in the body of `/rewrap`. `status` is ignored.
    opening RewrapItem: RewrapRequest<'static>;
    /// The result of an item: the response of `/protect` without `requestId`, or an error.
    answer ProtectedItem: Protected<'static>, PassedThrough<'static>, Dropped<'static>;
    /// The result of an item: the response of `/unprotect` without `requestId`, or an error.
    answer UnprotectedItem: Unprotected<'static>;
    /// The result of an item: the response of `/rewrap` without `requestId`, or an error.
    answer RewrappedItem: RewrappedPayload<'static>;
}

/// The HTTP status that the single call would have.
fn status() -> RefOr<Schema> {
    let status = ObjectBuilder::new().schema_type(Type::Integer);
    status.minimum(Some(200)).maximum(Some(599)).into()
}
