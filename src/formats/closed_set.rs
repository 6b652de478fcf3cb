//! Closed sets of named values: one table defines the enum, the names and their conversions.

use std::str::FromStr;

#[doc(hidden)]
pub use serde;
#[cfg(feature = "service")]
#[doc(hidden)]
pub use {sqlx, utoipa};

/// An enum that [`closed_set!`](crate::closed_set!) declares.
pub trait NamedValue: Copy + PartialEq + FromStr<Err = NotOneOf> + 'static {
    /// The values in display order.
    const VALUES: &'static [Self];
    /// The names of [`Self::VALUES`].
    const NAMES: &'static [&'static str];
    /// The documentation of [`Self::VALUES`].
    const DESCRIPTIONS: &'static [&'static str];

    /// The value with this name.
    fn named(name: &str) -> Result<Self, NotOneOf> {
        let place = Self::NAMES.iter().position(|known| *known == name);
        place.and_then(|place| Self::VALUES.get(place)).copied().ok_or(NotOneOf(Self::NAMES))
    }
}

/// The text is not a name of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {}", .0.join(", "))]
pub struct NotOneOf(pub &'static [&'static str]);

/// Declares an enum whose values have names.
///
/// The API, the database and people use the same names. The macro derives `ALL`, `name()`, `Display`,
/// `FromStr` and serde; with the feature `service` also sqlx (`text`) and the OpenAPI schema. The text
/// after the colon names the schema.
#[macro_export]
macro_rules! closed_set {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis enum $set:ident: $schema:literal {
            $(
                $(#[doc = $value_doc:literal])*
                $(#[default $($default:tt)?])?
                $value:ident = $name:literal,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, $($($derive),*)?)]
        $vis enum $set {
            $($(#[doc = $value_doc])* $(#[default $($default)?])? $value,)*
        }

        impl $set {
            /// The values in display order.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The name in the API and in the database.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }

        impl $crate::closed_set::NamedValue for $set {
            const VALUES: &'static [Self] = &Self::ALL;
            const NAMES: &'static [&'static str] = &[$($name),*];
            const DESCRIPTIONS: &'static [&'static str] = &[$(concat!($($value_doc),*)),*];
        }

        impl ::std::str::FromStr for $set {
            type Err = $crate::closed_set::NotOneOf;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::closed_set::NamedValue::named(name)
            }
        }

        impl ::std::fmt::Display for $set {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::closed_set::serde::Serialize for $set {
            fn serialize<S: $crate::closed_set::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::closed_set::serde::Deserialize<'de> for $set {
            fn deserialize<D: $crate::closed_set::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <::std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                name.parse().map_err($crate::closed_set::serde::de::Error::custom)
            }
        }

        $crate::stored_and_described!($set, $schema, [$($doc),*]);
    };
}

/// Adds the database type and the OpenAPI schema to a set.
#[cfg(feature = "service")]
#[doc(hidden)]
#[macro_export]
macro_rules! stored_and_described {
    ($set:ident, $schema:literal, [$($doc:literal),*]) => {
        impl $crate::closed_set::sqlx::Type<$crate::closed_set::sqlx::Postgres> for $set {
            fn type_info() -> $crate::closed_set::sqlx::postgres::PgTypeInfo {
                <str as $crate::closed_set::sqlx::Type<$crate::closed_set::sqlx::Postgres>>::type_info()
            }

            fn compatible(ty: &$crate::closed_set::sqlx::postgres::PgTypeInfo) -> bool {
                <str as $crate::closed_set::sqlx::Type<$crate::closed_set::sqlx::Postgres>>::compatible(ty)
            }
        }

        impl $crate::closed_set::sqlx::postgres::PgHasArrayType for $set {
            fn array_type_info() -> $crate::closed_set::sqlx::postgres::PgTypeInfo {
                <String as $crate::closed_set::sqlx::postgres::PgHasArrayType>::array_type_info()
            }
        }

        impl $crate::closed_set::sqlx::Encode<'_, $crate::closed_set::sqlx::Postgres> for $set {
            fn encode_by_ref(
                &self,
                buffer: &mut $crate::closed_set::sqlx::postgres::PgArgumentBuffer,
            ) -> Result<$crate::closed_set::sqlx::encode::IsNull, $crate::closed_set::sqlx::error::BoxDynError> {
                $crate::closed_set::sqlx::Encode::<$crate::closed_set::sqlx::Postgres>::encode(self.name(), buffer)
            }
        }

        impl<'r> $crate::closed_set::sqlx::Decode<'r, $crate::closed_set::sqlx::Postgres> for $set {
            fn decode(
                value: $crate::closed_set::sqlx::postgres::PgValueRef<'r>,
            ) -> Result<Self, $crate::closed_set::sqlx::error::BoxDynError> {
                let name = <&str as $crate::closed_set::sqlx::Decode<'r, $crate::closed_set::sqlx::Postgres>>::decode(value)?;
                Ok(name.parse()?)
            }
        }

        impl $crate::closed_set::utoipa::PartialSchema for $set {
            fn schema() -> $crate::closed_set::utoipa::openapi::RefOr<$crate::closed_set::utoipa::openapi::Schema> {
                $crate::closed_set::schema::<Self>(&[$($doc),*])
            }
        }

        impl $crate::closed_set::utoipa::ToSchema for $set {
            fn name() -> ::std::borrow::Cow<'static, str> {
                $schema.into()
            }
        }
    };
}

/// Adds nothing: the service enables the feature.
#[cfg(not(feature = "service"))]
#[doc(hidden)]
#[macro_export]
macro_rules! stored_and_described {
    ($set:ident, $schema:literal, [$($doc:literal),*]) => {};
}

/// The OpenAPI schema of a set with this documentation.
#[cfg(feature = "service")]
pub fn schema<T: NamedValue>(
    documentation: &[&str],
) -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    let lines: Vec<&str> = documentation.iter().map(|line| line.trim()).collect();
    utoipa::openapi::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::String)
        .description(Some(lines.join("\n")))
        .enum_values(Some(T::NAMES.iter().copied()))
        .into()
}

#[cfg(test)]
mod tests {

    closed_set! {
        /// A colour.
        #[derive(Default)]
        enum Colour: "Colour" {
            /// The first.
            #[default]
            Red = "red",
            /// The second.
            DarkBlue = "dark_blue",
        }
    }

    #[test]
    fn every_name_parses_as_its_value() {
        for colour in Colour::ALL {
            assert_eq!(colour.name().parse(), Ok(colour));
            assert_eq!(colour.to_string(), colour.name());
            let json = serde_json::to_value(colour).unwrap();
            assert_eq!(json, colour.name());
            assert_eq!(serde_json::from_value::<Colour>(json).unwrap(), colour);
        }
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_all_names() {
        let unknown = "Red".parse::<Colour>().unwrap_err();
        assert_eq!(unknown.to_string(), "must be one of red, dark_blue");
    }
}
