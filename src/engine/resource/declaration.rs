//! The declaration of a resource.

/// Declares a resource that the database keeps in a row of its own: the struct, its row and its
/// answer, and the request that creates or changes it ([`request!`](crate::request)).
///
/// Every resource also has `id`, `created_at`, `updated_at` and `revision`. `requested by` generates both
/// requests, `changed by` only the one that changes it, and `shown without Request` none. Answers lack the
/// members that are `@internal`. Members can have `#[since(2)]`, as in [`row!`](crate::row), except for groups
/// of columns.
#[macro_export]
macro_rules! resource {
    (
        $(#[doc = $resource_doc:literal])*
        $(#[writes($writes:literal)])?
        $vis:vis struct $Resource:ident($Id:ty) in $table:literal, $how:ident $by:ident $Request:ident {
            $(@fixed {
                $(
                    $(#[doc = $fixed_doc:literal])*
                    $(#[sqlx($fixed_row:ident)])?
                    $(#[since($fixed_since:literal)])?
                    $fixed_label:literal
                    $fixed:ident: $fixed_type:ty $(= $fixed_default:expr)?;
                )*
            })?
            $(
                $(#[doc = $doc:literal])*
                $(#[sqlx($row:ident)])?
                $(#[since($since:literal)])?
                $label:literal
                $name:ident: $type:ty
                $(as $read:ty)?
                $(= $default:expr)?
                $(, $optional:ident)?;
            )*
            $(@read_only {
                $(
                    $(#[doc = $read_only_doc:literal])*
                    $(#[sqlx($read_only_row:ident)])?
                    $(#[since($read_only_since:literal)])?
                    $(#[serde(rename = $read_only_name:tt)])?
                    $(#[schema(value_type = $read_only_schema:ty)])?
                    $read_only:ident: $read_only_type:ty;
                )*
            })?
            $(@internal {
                $(
                    $(#[doc = $internal_doc:literal])*
                    $(#[since($internal_since:literal)])?
                    $internal:ident: $internal_type:ty;
                )*
            })?
            $(@volatile {
                $(
                    $(#[doc = $volatile_doc:literal])*
                    $volatile:ident: $volatile_type:ty;
                )*
            })?
        }
    ) => {
        $(#[doc = $resource_doc])*
        #[derive(Clone, Debug, PartialEq, Eq, ::serde::Serialize, ::sqlx::FromRow, ::utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $vis struct $Resource {
            /// The identifier.
            pub id: $Id,
            $($(
                $(#[doc = $fixed_doc])*
                $(#[sqlx($fixed_row)])?
                pub $fixed: $fixed_type,
            )*)?
            $(
                $(#[doc = $doc])*
                $(#[sqlx($row)])?
                pub $name: $type,
            )*
            $($(
                $(#[doc = $read_only_doc])*
                $(#[sqlx($read_only_row)])?
                $(#[serde(rename = $read_only_name)])?
                $(#[schema(value_type = $read_only_schema)])?
                pub $read_only: $read_only_type,
            )*)?
            $($(
                $(#[doc = $internal_doc])*
                #[serde(skip)]
                pub $internal: $internal_type,
            )*)?
            $($(
                $(#[doc = $volatile_doc])*
                pub $volatile: $volatile_type,
            )*)?
            /// The creation time.
            pub created_at: ::formats::clock::Timestamp,
            /// The time of the last change.
            pub updated_at: ::formats::clock::Timestamp,
            /// The number of its state, for the `ETag`.
            #[serde(skip)]
            pub revision: $crate::revision::Revision,
            /// False if its row in the database does not count, because something else than the service
            /// wrote it. Otherwise absent.
            #[sqlx(skip)]
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(value_type = bool, required = false)]
            pub seal_valid: Option<bool>,
        }

        $crate::resource!(@request $how {
        $crate::request! {
            #[doc = concat!("The members of [`", stringify!($Resource), "`] that requests can set.")]
            $vis struct $Request: $Resource {
                $(
                    $(#[doc = $doc])*
                    $label
                    $name: $type $(as $read)? $(= $default)? $(, $optional)?;
                )*
                $(@fixed {
                    $(
                        $(#[doc = $fixed_doc])*
                        $fixed_label
                        $fixed: $fixed_type $(= $fixed_default)?;
                    )*
                })?
            }
            read_only: [
                $crate::member_name!(id),
                $($($crate::resource!(@member $read_only $(, $read_only_name)?),)*)?
                $crate::member_name!(created_at),
                $crate::member_name!(seal_valid)
            ],
            volatile: [$($($crate::member_name!($volatile),)*)? $crate::member_name!(updated_at)]
        }

        impl $crate::resource::ChangeBody for $Request {
            type Resource = $Resource;
        }
        });

        $crate::resource!(@create $how {
        impl $Request {
            /// The new resource that this requests. Members that are missing are noted; members that
            /// requests cannot set begin with the default of their type.
            $vis fn create(
                self,
                id: $Id,
                now: ::formats::clock::Timestamp,
                problems: &mut ::formats::problem::Problems,
            ) -> Option<$Resource> {
                $($(let $fixed = self.$fixed.or_default(
                    $crate::member_name!($fixed),
                    $crate::resource!(@default $($fixed_default)?),
                    problems,
                );)*)?
                $(let $name = self.$name.or_default(
                    $crate::member_name!($name),
                    $crate::resource!(@default $($default)?),
                    problems,
                );)*
                Some($Resource {
                    id,
                    $($($fixed: $fixed?,)*)?
                    $($name: $name?,)*
                    $($($read_only: Default::default(),)*)?
                    $($($internal: Default::default(),)*)?
                    $($($volatile: Default::default(),)*)?
                    created_at: now,
                    updated_at: now,
                    revision: $crate::revision::Revision::FIRST,
                    seal_valid: None,
                })
            }
        }
        });

        $crate::resource!(@request $how {
        impl $Request {
            /// The resource after this change; the one before it, where nothing changes. Members that
            /// cannot change are noted.
            #[allow(unused_variables, reason = "not every resource has members that cannot change")]
            $vis fn update(
                self,
                before: &$Resource,
                problems: &mut ::formats::problem::Problems,
            ) -> $Resource {
                $($(self.$fixed.keep_fixed($crate::member_name!($fixed), &before.$fixed, problems);)*)?
                $Resource {
                    $($name: self.$name.or_keep(&before.$name),)*
                    ..before.clone()
                }
            }
        }
        });

        impl $crate::resource::Identified for $Resource {
            fn uuid(&self) -> ::uuid::Uuid {
                self.id.uuid()
            }

            fn revision(&self) -> $crate::revision::Revision {
                self.revision
            }
        }

        impl $crate::resource::Touched for $Resource {
            fn touched(mut self, now: ::formats::clock::Timestamp) -> Self {
                self.updated_at = now;
                self.revision = self.revision.next();
                self
            }
        }

        impl $crate::resource::Stored for $Resource {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static [&'static str]] = &[
                &["id"],
                $($($crate::resource!(@columns $fixed: $fixed_type $(, $fixed_row)?),)*)?
                $($crate::resource!(@columns $name: $type $(, $row)?),)*
                $($($crate::resource!(@columns $read_only: $read_only_type $(, $read_only_row)?),)*)?
                $($(&[stringify!($internal)],)*)?
                $($(&[stringify!($volatile)],)*)?
                &["created_at", "updated_at", "revision"],
            ];
            const IS_KEPT: bool = true;
            const FORMS: $crate::seals::Forms = $crate::forms!(
                [$($writes)?]
                [
                    $($($($fixed_since)?)*)?
                    $($($since)?)*
                    $($($($read_only_since)?)*)?
                    $($($($internal_since)?)*)?
                ]
            );

            fn at(mut self, revision: $crate::revision::Revision) -> Self {
                self.revision = revision;
                self
            }

            fn marked_invalid(mut self) -> Self {
                self.seal_valid = Some(false);
                self
            }

            fn columns(&self) -> $crate::resource::Columns {
                let mut columns = $crate::resource::Columns::default();
                $($($crate::resource!(@set columns, self.$fixed, $fixed $(, $fixed_row)? $(, $fixed_since)?);)*)?
                $($crate::resource!(@set columns, self.$name, $name $(, $row)? $(, $since)?);)*
                $($($crate::resource!(@set columns, self.$read_only, $read_only $(, $read_only_row)? $(, $read_only_since)?);)*)?
                $($($crate::set_column!(columns, stringify!($internal), self.$internal $(, $internal_since)?);)*)?
                columns.set("created_at", self.created_at);
                columns.set("updated_at", self.updated_at);
                columns.set("revision", self.revision);
                columns
            }
        }
    };

    (@columns $name:ident: $type:ty) => { &[stringify!($name)] };
    (@columns $name:ident: $type:ty, flatten) => {
        <$type as $crate::resource::ColumnGroup>::COLUMNS
    };
    (@set $columns:ident, $value:expr, $name:ident $(, $since:literal)?) => {
        $crate::set_column!($columns, stringify!($name), $value $(, $since)?)
    };
    (@set $columns:ident, $value:expr, $name:ident, flatten) => {
        $crate::resource::ColumnGroup::write(&$value, &mut $columns)
    };
    (@member $name:ident) => { $crate::member_name!($name) };
    (@member $name:ident, $json:literal) => { $json };
    (@request requested { $($item:tt)* }) => { $($item)* };
    (@request changed { $($item:tt)* }) => { $($item)* };
    (@request shown { $($item:tt)* }) => {};
    (@create requested { $($item:tt)* }) => { $($item)* };
    (@create changed { $($item:tt)* }) => {};
    (@create shown { $($item:tt)* }) => {};
    (@default) => { None };
    (@default $default:expr) => { Some($default) };
}
