//! The declaration of a sealed row that is no resource.

/// Declares a row that decides something and that no request describes: the struct, and its columns. Every
/// such row also has `id` and `revision`. `kept` is whether it stays after the end of what it describes.
#[macro_export]
macro_rules! row {
    (
        $(#[doc = $row_doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis struct $Row:ident($Id:ty) in $table:literal, kept: $kept:literal {
            $(
                $(#[doc = $doc:literal])*
                $name:ident: $type:ty;
            )*
        }
    ) => {
        $(#[doc = $row_doc])*
        #[derive(Clone, ::sqlx::FromRow, $($($derive),*)?)]
        $vis struct $Row {
            /// The identifier.
            pub(crate) id: $Id,
            $(
                $(#[doc = $doc])*
                pub(crate) $name: $type,
            )*
            /// The number of its state.
            pub(crate) revision: $crate::revision::Revision,
        }

        impl $crate::resource::Identified for $Row {
            fn uuid(&self) -> ::uuid::Uuid {
                self.id.uuid()
            }

            fn revision(&self) -> $crate::revision::Revision {
                self.revision
            }
        }

        impl $crate::resource::Stored for $Row {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static [&'static str]] =
                &[&["id", $(stringify!($name),)* "revision"]];
            const IS_KEPT: bool = $kept;

            fn at(mut self, revision: $crate::revision::Revision) -> Self {
                self.revision = revision;
                self
            }

            fn marked_invalid(self) -> Self {
                self
            }

            fn columns(&self) -> $crate::resource::Columns {
                let mut columns = $crate::resource::Columns::default();
                $(columns.set(stringify!($name), &self.$name);)*
                columns.set("revision", self.revision);
                columns
            }
        }
    };
}
