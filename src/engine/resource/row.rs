//! The declaration of a sealed row that is no resource.

/// Declares a row that decides something and that no request describes: the struct, and its columns. Every
/// such row also has `id` and `revision`. `kept` is whether it stays after the end of what it describes.
///
/// A column with `#[since(2)]` came with the second form of the row. Its default in the migration is that of
/// its type. The release that adds it writes the former form (`#[writes(1)]`), and the release after it the new
/// one.
#[macro_export]
macro_rules! row {
    (
        $(#[doc = $row_doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $(#[writes($writes:literal)])?
        $vis:vis struct $Row:ident($Id:ty) in $table:literal, kept: $kept:literal {
            $(
                $(#[doc = $doc:literal])*
                $(#[since($since:literal)])?
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
            const FORMS: $crate::seals::Forms =
                $crate::forms!([$($writes)?] [$($($since)?)*]);

            fn at(mut self, revision: $crate::revision::Revision) -> Self {
                self.revision = revision;
                self
            }

            fn marked_invalid(self) -> Self {
                self
            }

            fn columns(&self) -> $crate::resource::Columns {
                let mut columns = $crate::resource::Columns::default();
                $($crate::set_column!(columns, stringify!($name), self.$name $(, $since)?);)*
                columns.set("revision", self.revision);
                columns
            }
        }
    };
}

/// Sets a column of a row, also one that came with a later form.
#[macro_export]
macro_rules! set_column {
    ($columns:ident, $name:expr, $value:expr) => {
        $columns.set($name, &$value)
    };
    ($columns:ident, $name:expr, $value:expr, $since:literal) => {{
        let is_default = $value == ::std::default::Default::default();
        $columns.set_since(($since, is_default), $name, &$value)
    }};
}

/// The forms of a row with columns since these forms. Without `writes`, it is written in the newest one.
#[macro_export]
macro_rules! forms {
    ([$($writes:literal)?] [$($since:literal)*]) => {{
        let since: &[u8] = &[$crate::seals::FIRST_FORM, $($since),*];
        let newest = $crate::seals::newest_of_forms(since);
        let writes: &[u8] = &[$($writes)?];
        let written = match writes {
            [form, ..] => *form,
            [] => newest,
        };
        $crate::seals::Forms { newest, written }
    }};
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, RwLock};

    use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

    use crate::ids::KeyId;
    use crate::resource::{Deprivable, Stored as _};
    use crate::revision::Revision;
    use crate::seals::{Forms, NotSealable, RowKey, Seals};

    row! {
        /// A row of the release that adds a column.
        #[writes(1)]
        struct Later(KeyId) in "later", kept: true {
            /// The name.
            name: String;
            /// The new column.
            #[since(2)]
            added: Option<String>;
        }
    }

    impl Deprivable for Later {}

    #[tokio::test]
    async fn the_release_that_adds_a_column_writes_the_former_form() {
        let pool = PgPoolOptions::new().connect_lazy_with(PgConnectOptions::new());
        let seals = Seals::of(Arc::new(RwLock::new(pool)));
        seals.unlock(RowKey::derive([(1, b"secret".as_slice())]).unwrap());
        let with = |added: Option<&str>| Later {
            id: KeyId::from_uuid(uuid::Uuid::from_u128(7)),
            name: "name".to_owned(),
            added: added.map(str::to_owned),
            revision: Revision::FIRST,
        };
        let seal = |row: &Later| {
            let columns = row.columns();
            seals.seal(row.row(), 1, (columns.form().unwrap(), Later::FORMS))
        };
        assert_eq!(Later::FORMS, Forms { newest: 2, written: 1 });
        let bytes = seal(&with(None)).unwrap().bytes;
        assert_eq!(bytes[0], 1);
        assert_eq!(seal(&with(Some("a value"))).err(), Some(NotSealable::LaterForm));
    }
}
