//! The bodies of the runtime API. One declaration per body reads or writes it and gives its schema.
//!
//! `request!` declares a body that is read member by member from JSON text, without a copy of the
//! payload. `answer!` declares a body that is written into the buffer that is sent.

mod member;
mod schema;

pub(super) use self::member::{
    Base64, Decrypted, Encrypted, Head, Json, ProtectedPayloadType, ReadMember, Reference,
    Rewrapped, True, Unchanged, WriteMember,
};
pub(super) use self::schema::{Described, Schemas, any_of, base64, merged, object, reference};
use super::{Body, Refusal};
use formats::json::Members;
use formats::problem::Problem;
use formats::wiped::Wiped;

/// Writes `answer` into a buffer with capacity for `length` bytes in addition to the common
/// members: a reallocation would leave plaintext behind.
pub(super) fn written(length: usize, answer: &impl WriteMember) -> Result<Body, Refusal> {
    let mut out = Wiped::new(String::with_capacity(length + 512));
    answer.write(&mut out)?;
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
macro_rules! request {
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt) => {
        $crate::protection::body::request!(@ [$($about)*] $name<$life> $members []);
    };
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt or answer) => {
        $crate::protection::body::request!(@ [$($about)*] $name<$life> $members
            ["requestId" "messageType" "operations"]);
    };
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> $members:tt or answer of a batch) => {
        $crate::protection::body::request!(@ [$($about)*] $name<$life> $members ["requestId"]);
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

        $crate::protection::body::described!($name<$life> $($about)* { closed
            $($member [$($doc)*] $type,)*
            $($ignored [" Ignored, so that a client can send the response back."]
                Option<::formats::json::Text<'static>>,)*
        });
    };
}

/// Declares an answer: the Rust name, JSON name and type of each member, in the order of the text.
macro_rules! answer {
    ($(#[doc = $about:literal])* $name:ident<$($life:lifetime)?> {
        $($(#[doc = $doc:literal])* $field:ident $member:literal: $type:ty,)*
    }) => {
        $(#[doc = $about])*
        #[allow(unreachable_pub, reason = "some answers are parts of others")]
        pub struct $name<$($life)?> {
            $($(#[doc = $doc])* pub(super) $field: $type,)*
        }

        impl<$($life)?> $crate::protection::body::WriteMember for $name<$($life)?> {
            fn write(&self, out: &mut String) -> Result<(), $crate::protection::Refusal> {
                out.push('{');
                $(self.$field.write_named($member, out)?;)*
                out.push('}');
                Ok(())
            }
        }

        impl<$($life)?> ::std::fmt::Debug for $name<$($life)?> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(concat!(stringify!($name), "([redacted])"))
            }
        }

        $crate::protection::body::described!($name<$($life)?> $($about)* { open $($member [$($doc)*] $type,)* });
    };
}

/// Declares an answer that is one of several bodies. Its schema is one object with the members of all of
/// them, because many client generators do not support alternatives without a discriminator.
macro_rules! answer_of {
    ($(#[doc = $about:literal])* $name:ident<$life:lifetime> { $($body:ident<$($inner:lifetime)?>,)* }) => {
        $(#[doc = $about])*
        #[allow(unreachable_pub, reason = "some answers are parts of others")]
        #[derive(Debug)]
        pub enum $name<$life> {
            $(#[doc = concat!("The body `", stringify!($body), "`.")] $body($body<$($inner)?>),)*
        }

        impl $crate::protection::body::WriteMember for $name<'_> {
            fn write(&self, out: &mut String) -> Result<(), $crate::protection::Refusal> {
                match self {
                    $(Self::$body(body) => body.write(out),)*
                }
            }
        }

        $crate::protection::body::described!(@ $name<$life>
            $crate::protection::body::any_of(&[$($about),*], [
                $(<$body<$($inner)?> as ::utoipa::PartialSchema>::schema(),)*
            ]);
            schemas => { $(<$body<$($inner)?> as ::utoipa::ToSchema>::schemas(schemas);)* }
        );
    };
}

/// Implements the traits of a schema for a body.
macro_rules! described {
    ($name:ident<$($life:lifetime)?> $($about:literal)* { $openness:ident
        $($member:literal [$($doc:literal)*] $type:ty,)*
    }) => {
        $crate::protection::body::described!(@ $name<$($life)?>
            $crate::protection::body::object(stringify!($openness) == "open", &[$($about),*], [
                $((
                    $member,
                    <$type as $crate::protection::body::Described>::REQUIRED,
                    &[$($doc),*] as &[&str],
                    <$type as $crate::protection::body::Described>::schema(),
                ),)*
            ]),
            $($type,)*
        );
    };
    (@ $name:ident<$($life:lifetime)?> $schema:expr, $($type:ty,)*) => {
        $crate::protection::body::described!(@ $name<$($life)?> $schema;
            schemas => { $(<$type as $crate::protection::body::Described>::schemas(schemas);)* }
        );
    };
    (@ $name:ident<$($life:lifetime)?> $schema:expr; $schemas:ident => $inner:block) => {
        impl<$($life)?> ::utoipa::PartialSchema for $name<$($life)?> {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $schema
            }
        }

        impl<$($life)?> ::utoipa::ToSchema for $name<$($life)?> {
            fn name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schemas($schemas: &mut $crate::protection::body::Schemas) $inner
        }

        impl<$($life)?> $crate::protection::body::Described for $name<$($life)?> {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $crate::protection::body::reference::<Self>()
            }

            fn schemas(schemas: &mut $crate::protection::body::Schemas) {
                <Self as ::utoipa::ToSchema>::schemas(schemas);
                schemas.push((
                    stringify!($name).to_owned(),
                    <Self as ::utoipa::PartialSchema>::schema(),
                ));
            }
        }
    };
}

pub(super) use {answer, answer_of, described, request};
