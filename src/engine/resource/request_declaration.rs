//! The declaration of a request.

/// Declares the members that requests can set: a struct with a [`Member`](crate::resource::Member)
/// for each, its reading, its documentation and the fields of its form.
///
/// A member has its documentation, its label in the dashboard, its name and its type. With a default
/// behind it, or with `optional`, a request may leave it out. `as` names another type that reads it.
#[macro_export]
macro_rules! request {
    (
        $(#[doc = $request_doc:expr])*
        $vis:vis struct $Request:ident: $schema:ident {
            $(
                $(#[doc = $doc:literal])*
                $label:literal
                $name:ident: $type:ty
                $(as $read:ty)?
                $(= $default:expr)?
                $(, $optional:ident)?;
            )*
            $(@fixed {
                $(
                    $(#[doc = $fixed_doc:literal])*
                    $fixed_label:literal
                    $fixed:ident: $fixed_type:ty $(= $fixed_default:expr)?;
                )*
            })?
        }
        $(read_only: [$($read_only:expr),*], volatile: [$($volatile:expr),*])?
    ) => {
        $(#[doc = $request_doc])*
        #[derive(Clone, Default)]
        $vis struct $Request {
            $(
                $(#[doc = $doc])*
                pub $name: $crate::resource::Member<$type>,
            )*
            $($(
                $(#[doc = $fixed_doc])*
                pub $fixed: $crate::resource::Member<$fixed_type>,
            )*)?
        }

        /// A request may have a secret in any member.
        impl ::std::fmt::Debug for $Request {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(concat!(stringify!($Request), "([redacted])"))
            }
        }

        #[allow(unused_qualifications, reason = "the derive qualifies generic arguments")]
        const _: () = {
            #[derive(::utoipa::ToSchema)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            #[schema(as = $schema)]
            #[expect(dead_code, reason = "only the schema uses it")]
            $(#[doc = $request_doc])*
            struct Documentation {
                $(
                    $(#[doc = $doc])*
                    $name: $type,
                )*
                $($(
                    $(#[doc = $fixed_doc])*
                    $fixed: $fixed_type,
                )*)?
            }

            impl ::utoipa::PartialSchema for $Request {
                fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                    $crate::resource::with_required::<Self>(Documentation::schema())
                }
            }

            impl ::utoipa::ToSchema for $Request {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    <Documentation as ::utoipa::ToSchema>::name()
                }

                fn schemas(
                    schemas: &mut Vec<(
                        String,
                        ::utoipa::openapi::RefOr<::utoipa::openapi::Schema>,
                    )>,
                ) {
                    <Documentation as ::utoipa::ToSchema>::schemas(schemas);
                }
            }
        };

        impl $crate::resource::RequestBody for $Request {
            const FIELDS: &'static [$crate::resource::Field] = &[
                $($crate::resource::Field {
                    name: $crate::member_name!($name),
                    label: $label,
                    documentation: concat!($($doc, "\n"),*),
                    input: <$crate::request!(@read $type $(, $read)?) as $crate::resource::Value>::INPUT,
                    required: !$crate::request!(@any $($default)? $($optional)?),
                    nullable: <$crate::request!(@read $type $(, $read)?) as $crate::resource::Value>::NULLABLE,
                    changeable: true,
                },)*
                $($($crate::resource::Field {
                    name: $crate::member_name!($fixed),
                    label: $fixed_label,
                    documentation: concat!($($fixed_doc, "\n"),*),
                    input: <$fixed_type as $crate::resource::Value>::INPUT,
                    required: !$crate::request!(@any $($fixed_default)?),
                    nullable: <$fixed_type as $crate::resource::Value>::NULLABLE,
                    changeable: false,
                },)*)?
            ];
            $(
                const READ_ONLY: &'static [&'static str] = &[$($read_only),*];
                const VOLATILE: &'static [&'static str] = &[$($volatile),*];
            )?

            fn read(reader: &mut $crate::resource::Reader<'_>) -> Self {
                Self {
                    $($name: reader
                        .member::<$crate::request!(@read $type $(, $read)?)>($crate::member_name!($name))
                        .map(From::from),)*
                    $($($fixed: reader.member($crate::member_name!($fixed)),)*)?
                }
            }
        }
    };

    (@read $type:ty) => { $type };
    (@read $type:ty, $read:ty) => { $read };
    (@any) => { false };
    (@any $($some:tt)+) => { true };
}
