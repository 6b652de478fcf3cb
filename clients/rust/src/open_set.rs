//! Sets of names that later releases of Sealward can extend.

/// Declares an enum of names. A name that this version does not know is `Other`.
macro_rules! open_set {
    ($(#[$about:meta])* $set:ident {
        $($(#[$of_name:meta])* $name:ident = $text:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $set {
            $(
                $(#[$of_name])*
                #[doc = concat!("`", $text, "`")]
                $name,
            )+
            /// A name that this version does not know.
            Other(String),
        }

        impl $set {
            /// The name in the API.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)+
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for $set {
            fn from(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $set {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $set {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $set {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer).map(|name| name.as_str().into())
            }
        }
    };
}

pub(crate) use open_set;
