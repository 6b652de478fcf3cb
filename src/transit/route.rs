//! The route table.

use axum::http::Method;

use crate::operation::Operation;

/// A path of this API, and what its segments name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'p> {
    /// An operation, with the segments after its name.
    Data(Operation, &'p str),
    Random(&'p str),
    Keys,
    Key(&'p str),
    Config(&'p str),
    Rotate(&'p str),
    /// An import of a key, which only the management API has.
    Import(&'p str),
    /// The public keys of a key, and the version of the path.
    PublicKeys(&'p str, Option<&'p str>),
    /// Private keys, which do not leave the token.
    PrivateKeys,
    /// A path of the engine that is not supported.
    Unsupported,
    LogIn {
        user: Option<&'p str>,
    },
    RenewSelf,
    LookUpSelf,
    RevokeSelf,
    Health,
    SealStatus,
    Leader,
    /// A path that every client without rights is denied.
    Denied,
}

/// What a method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    List,
    Write,
    Delete,
}

impl<'p> Route<'p> {
    /// The route of a path after `/v1/`, with the engine at `mount`.
    pub(crate) fn of(path: &'p str, mount: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        match first {
            "sys" => Self::of_system(rest),
            "auth" => Self::of_authentication(rest),
            _ if first == mount => Some(Self::of_engine(rest)),
            _ => None,
        }
    }

    fn of_system(path: &str) -> Option<Self> {
        Some(match path {
            "health" => Self::Health,
            "seal-status" => Self::SealStatus,
            "leader" => Self::Leader,
            _ => Self::Denied,
        })
    }

    fn of_authentication(path: &'p str) -> Option<Self> {
        match path {
            "token/renew-self" => return Some(Self::RenewSelf),
            "token/lookup-self" => return Some(Self::LookUpSelf),
            "token/revoke-self" => return Some(Self::RevokeSelf),
            _ => {}
        }
        if path.ends_with("/login") {
            return Some(Self::LogIn { user: None });
        }
        match path.rsplit_once('/') {
            Some((before, user)) if before.ends_with("/login") && !user.is_empty() => {
                Some(Self::LogIn { user: Some(user) })
            }
            _ => Some(Self::Denied),
        }
    }

    fn of_engine(path: &'p str) -> Self {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        if let Some(operation) = Operation::named(first) {
            return Self::Data(operation, rest);
        }
        match (first, rest) {
            ("random", rest) => Self::Random(rest),
            ("keys", "") => Self::Keys,
            ("keys", rest) => Self::of_key(rest),
            ("export", rest) => match rest.strip_prefix("public-key/") {
                Some(key) => match key.split_once('/') {
                    Some((name, version)) => Self::PublicKeys(name, Some(version)),
                    None => Self::PublicKeys(key, None),
                },
                None => Self::PrivateKeys,
            },
            ("backup", _) => Self::PrivateKeys,
            _ => Self::Unsupported,
        }
    }

    fn of_key(path: &'p str) -> Self {
        match path.split_once('/') {
            None => Self::Key(path),
            Some((name, "config")) => Self::Config(name),
            Some((name, "rotate")) => Self::Rotate(name),
            Some((name, "import" | "import_version")) => Self::Import(name),
            Some(_) => Self::Unsupported,
        }
    }

    /// Whether agents repeat refused requests at once.
    pub(crate) const fn is_repeated(self) -> bool {
        matches!(self, Self::LogIn { .. } | Self::RenewSelf)
    }

    /// The path as a template, which metrics and traces use.
    pub(crate) const fn template(self) -> &'static str {
        match self {
            Self::Data(operation, _) => operation.template(),
            Self::Random(_) => "/v1/{mount}/random",
            Self::Keys => "/v1/{mount}/keys",
            Self::Key(_) => "/v1/{mount}/keys/{name}",
            Self::Config(_) => "/v1/{mount}/keys/{name}/config",
            Self::Rotate(_) => "/v1/{mount}/keys/{name}/rotate",
            Self::Import(_) => "/v1/{mount}/keys/{name}/import",
            Self::PublicKeys(..) | Self::PrivateKeys => "/v1/{mount}/export",
            Self::Unsupported => "/v1/{mount}",
            Self::LogIn { .. } => "/v1/auth/{mount}/login",
            Self::RenewSelf => "/v1/auth/token/renew-self",
            Self::LookUpSelf => "/v1/auth/token/lookup-self",
            Self::RevokeSelf => "/v1/auth/token/revoke-self",
            Self::Health => "/v1/sys/health",
            Self::SealStatus => "/v1/sys/seal-status",
            Self::Leader => "/v1/sys/leader",
            Self::Denied => "/v1/sys",
        }
    }
}

/// All templates, each once.
pub fn templates() -> impl Iterator<Item = &'static str> {
    use Route::{
        Config, Denied, Health, Import, Key, Keys, Leader, LogIn, LookUpSelf, PrivateKeys, Random,
        RenewSelf, RevokeSelf, Rotate, SealStatus, Unsupported,
    };
    let others = [
        Random(""),
        Keys,
        Key(""),
        Config(""),
        Rotate(""),
        Import(""),
        PrivateKeys,
        Unsupported,
        LogIn { user: None },
        RenewSelf,
        LookUpSelf,
        RevokeSelf,
        Health,
        SealStatus,
        Leader,
        Denied,
    ];
    let operations = Operation::ALL.into_iter().map(Operation::template);
    operations.chain(others.map(Route::template))
}

impl Verb {
    /// What the method of a request does. `list` in the query makes a list of a read.
    pub(crate) fn of(method: &Method, query: Option<&str>) -> Option<Self> {
        match method.as_str() {
            "LIST" => Some(Self::List),
            "POST" | "PUT" => Some(Self::Write),
            "DELETE" => Some(Self::Delete),
            "GET" | "HEAD" if is_list(query) => Some(Self::List),
            "GET" | "HEAD" => Some(Self::Read),
            _ => None,
        }
    }
}

fn is_list(query: Option<&str>) -> bool {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.any(|(name, value)| name == "list" && truth(&value) == Some(true))
}

/// A boolean as Go reads it.
pub(crate) fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_their_route() {
        let route = |path| Route::of(path, "transit");
        assert_eq!(route("transit/encrypt/a"), Some(Route::Data(Operation::Encrypt, "a")));
        assert_eq!(route("transit/sign/a/sha2-256"), {
            Some(Route::Data(Operation::Sign, "a/sha2-256"))
        });
        assert_eq!(route("transit/keys/"), Some(Route::Keys));
        assert_eq!(route("transit/keys/a/rotate"), Some(Route::Rotate("a")));
        assert_eq!(route("transit/keys/a/trim"), Some(Route::Unsupported));
        assert_eq!(route("transit/export/public-key/a/latest"), {
            Some(Route::PublicKeys("a", Some("latest")))
        });
        assert_eq!(route("transit/backup/a"), Some(Route::PrivateKeys));
        assert_eq!(route("auth/a/b/login"), Some(Route::LogIn { user: None }));
        assert_eq!(route("auth/userpass/login/me"), Some(Route::LogIn { user: Some("me") }));
        assert_eq!(route("auth/token/lookup"), Some(Route::Denied));
        assert_eq!(route("sys/mounts"), Some(Route::Denied));
        assert_eq!(route("secret/data/a"), None);
    }

    #[test]
    fn the_templates_differ() {
        let mut all: Vec<_> = templates().collect();
        all.sort_unstable();
        let before = all.len();
        all.dedup();
        assert_eq!(all.len(), before);
    }
}
