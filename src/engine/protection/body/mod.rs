//! The bodies of the runtime API.
//!
//! `borrowed_request!` declares a body that is read member by member from JSON text, without a copy of the
//! payload. An answer is a struct that derives its writing and its schema.

mod member;
mod schema;

use serde::Serialize;

pub(super) use self::member::{Base64, ReadMember, Reference};
pub(super) use self::schema::{
    Described, MessageType, Schemas, add, base64, item_of, object, reference,
};
use super::{Body, Refusal};
use formats::json::Members;
use formats::problem::Problem;
use formats::wiped::Wiped;

/// Writes `answer` into a buffer with capacity for `length` bytes in addition to the common
/// members: a reallocation would leave plaintext behind.
pub(super) fn written(length: usize, answer: &impl Serialize) -> Result<Body, Refusal> {
    let mut out = Wiped::new(Vec::with_capacity(length + 512));
    serde_json::to_writer(&mut *out, answer).map_err(|_| Refusal::Unwritten)?;
    Ok(Body(out))
}

/// Notes a problem unless the body names a policy or the credential is bound to one.
pub(super) fn require_policy(members: &mut Members<'_>, is_bound: bool) {
    if !is_bound && members.optional("policyNumber").is_none() {
        members.note(Problem::required("policyNumber"));
    }
}

/// Declares a request: the Rust name, JSON name and type of each member. With `or answer`, it also has
/// the other members of an answer to `/protect`, or of an answer to a batch, which are ignored.
macro_rules! borrowed_request {
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt) => {
        $crate::protection::body::borrowed_request!(@ [$($about)*] $name<$life> $members []);
    };
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt or answer) => {
        $crate::protection::body::borrowed_request!(@ [$($about)*] $name<$life> $members
            ["requestId" "messageType" "operations"]);
    };
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt or answer of a batch) => {
        $crate::protection::body::borrowed_request!(@ [$($about)*] $name<$life> $members ["requestId"]);
    };
    (@ [$($about:literal)*] $name:ident<$life:lifetime> {
        $($(#[doc = $doc:literal])* $field:ident $member:literal: $type:ty,)*
    } [$($ignored:literal)*]) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        pub struct $name<$life> {
            $($(#[doc = $doc])* pub(super) $field: $type,)*
        }

        impl<$life> $name<$life> {
            const MEMBERS: &'static [&'static str] = &[$($member,)* $($ignored,)*];

            /// Reads the members and notes every problem.
            fn read(members: &mut ::formats::json::Members<$life>) -> Option<Self> {
                $(let $field = <$type as $crate::protection::body::ReadMember<$life>>::read(members, $member);)*
                Some(Self { $($field: $field?,)* })
            }
        }

        impl<$life> ::utoipa::PartialSchema for $name<$life> {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $crate::protection::body::object(&[$($about),*], [
                    $((
                        $member,
                        <$type as $crate::protection::body::Described>::REQUIRED,
                        &[$($doc),*] as &[&str],
                        <$type as $crate::protection::body::Described>::schema(),
                    ),)*
                    $((
                        $ignored,
                        false,
                        &["Ignored, so that a client can send the response back."],
                        <::formats::json::Text<'_> as $crate::protection::body::Described>::schema(),
                    ),)*
                ])
            }
        }

        impl<$life> ::utoipa::ToSchema for $name<$life> {
            fn name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schemas(schemas: &mut $crate::protection::body::Schemas) {
                $(<$type as $crate::protection::body::Described>::schemas(schemas);)*
            }
        }

        impl<$life> $crate::protection::body::Described for $name<$life> {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $crate::protection::body::reference::<Self>()
            }

            fn schemas(schemas: &mut $crate::protection::body::Schemas) {
                $crate::protection::body::add::<Self>(schemas);
            }
        }
    };
}

pub(super) use borrowed_request;
