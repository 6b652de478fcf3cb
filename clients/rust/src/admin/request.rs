//! The declaration of request bodies.

/// Declares a request body: required members, and optional members that are left out if they are `None`.
macro_rules! request {
    ($(#[$about:meta])* $name:ident {
        $($(#[$required_doc:meta])* $required:ident: $required_type:ty,)*
        ; $($(#[$doc:meta])* $member:ident: $type:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$required_doc])* pub $required: $required_type,)*
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $member: Option<$type>,
            )*
        }
    };
}

pub(super) use request;
