//! The description of one member that requests can set.

/// The description of one member, for schemas, forms and checks.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name in the API.
    pub name: &'static str,
    /// The name in the dashboard.
    pub label: &'static str,
    pub documentation: &'static str,
    /// How people enter it.
    pub input: FieldInput,
    /// Whether a request that creates the resource must have it.
    pub required: bool,
    /// Whether it can be null.
    pub nullable: bool,
    /// Whether it can change after the resource was created.
    pub changeable: bool,
}

/// How people enter a value.
#[derive(Clone, Copy, Debug)]
pub enum FieldInput {
    /// One line of text.
    Line,
    /// Several lines of text.
    Paragraph,
    /// A whole number.
    Number,
    /// Yes or no.
    Flag,
    /// A moment in UTC.
    Moment,
    /// One of these names, with their descriptions.
    OneOf(&'static [&'static str], &'static [&'static str]),
    /// Any of these names.
    AnyOf(&'static [&'static str]),
    /// The resource with an identifier of this prefix.
    Reference(&'static str),
    /// Resources with identifiers of this prefix, or `*` for all of them.
    References(&'static str),
    /// A list of texts, one a line.
    Lines,
    /// An object with any members, in JSON.
    Json,
    /// An object with members.
    Object(&'static [Field]),
    /// One line of a secret, which no page shows again.
    Secret,
    /// A public key as PEM or JWK.
    PublicKey,
    /// A private key as PEM or JWK, which no page shows again.
    PrivateKey,
}

/// `publish_keys` as `publishKeys`: the bytes and how many of them count.
pub(crate) const fn camel_case<const N: usize>(snake: &str) -> ([u8; N], usize) {
    let mut camel = [0; N];
    let mut length = 0;
    let mut capital = false;
    let mut rest = snake.as_bytes();
    if let [b'r', b'#', name @ ..] = rest {
        rest = name;
    }
    while let [letter, others @ ..] = rest {
        rest = others;
        if *letter == b'_' {
            capital = true;
            continue;
        }
        // The arrays that macros make are as long as the text.
        if let Some((_, places)) = camel.split_at_mut_checked(length)
            && let [place, ..] = places
        {
            *place = if capital { letter.to_ascii_uppercase() } else { *letter };
            length += 1;
        }
        capital = false;
    }
    (camel, length)
}

/// The name in the API of a member with this name in the code.
#[macro_export]
macro_rules! member_name {
    ($name:ident) => {{
        const CAMEL: ([u8; stringify!($name).len()], usize) =
            $crate::resource::camel_case(stringify!($name));
        const NAME: &str = match CAMEL.0.split_at_checked(CAMEL.1) {
            Some((name, _)) => match str::from_utf8(name) {
                Ok(name) => name,
                Err(_) => "",
            },
            None => "",
        };
        NAME
    }};
}

#[cfg(test)]
mod tests {
    #[test]
    fn members_are_named_in_camel_case() {
        assert_eq!(member_name!(name), "name");
        assert_eq!(member_name!(publish_keys), "publishKeys");
        assert_eq!(member_name!(r#type), "type");
        assert_eq!(member_name!(allowed_service_ids), "allowedServiceIds");
    }
}
