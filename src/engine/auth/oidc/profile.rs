//! The person and the roles that a verified token describes.

use serde_json::{Map, Value};

use super::{NotSignedIn, roles};
use crate::auth::{Profile, TokenKind};
use crate::jwt::VerifiedToken;
use crate::resource::is_hidden;
use crate::settings::Oidc;

/// The most characters of a subject. An admin key can name people by their subject.
const LONGEST_SUBJECT: usize = 128;

/// The most characters of a name.
const LONGEST_NAME: usize = 100;

/// The claims that can contain the name of a person, the best first.
const NAMES: [&str; 3] = ["name", "preferred_username", "email"];

/// The person of a verified token.
pub(super) fn of(
    settings: &Oidc,
    token: &VerifiedToken,
    source: TokenKind,
) -> Result<Profile, NotSignedIn> {
    let subject = &token.subject;
    if subject.chars().count() > LONGEST_SUBJECT || subject.chars().any(is_hidden) {
        return Err(NotSignedIn::Claim("sub"));
    }
    let groups = groups(&token.claims, &settings.groups_claim);
    Ok(Profile {
        issuer: token.issuer.clone(),
        name: name(&token.claims),
        roles: roles::of_groups(&settings.roles, &groups),
        subject: subject.clone(),
        issued_at: token.issued_at,
        source,
    })
}

fn name(claims: &Map<String, Value>) -> Option<String> {
    let texts = NAMES.iter().filter_map(|name| claims.get(*name)?.as_str());
    let mut names = texts.map(|text| {
        let text = text.chars().filter(|character| !is_hidden(*character));
        let text: String = text.take(LONGEST_NAME).collect();
        text.trim().to_owned()
    });
    names.find(|name| !name.is_empty())
}

/// The groups in a claim: a string or an array of strings. A name that starts with `/` is a JSON Pointer.
fn groups<'a>(claims: &'a Map<String, Value>, claim: &str) -> Vec<&'a str> {
    let value = match claim.strip_prefix('/') {
        None => claims.get(claim),
        Some(path) => {
            let (first, rest) = match path.split_once('/') {
                Some((first, rest)) => (first, format!("/{rest}")),
                None => (path, String::new()),
            };
            let first = first.replace("~1", "/").replace("~0", "~");
            claims.get(&first).and_then(|value| value.pointer(&rest))
        }
    };
    match value {
        Some(Value::String(group)) => vec![group],
        Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => vec![],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::auth::{Role, Roles};
    use crate::settings::RoleGroups;

    fn claims(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn names_have_no_hidden_characters() {
        let claims = json!({ "name": "\u{200b}\u{7}", "email": "a\u{202e}b@example.com" });
        let claims = claims.as_object().unwrap();
        assert_eq!(name(claims).as_deref(), Some("ab@example.com"));
    }

    #[test]
    fn groups_are_a_string_or_strings_at_a_name_or_a_pointer() {
        let claims = claims(&json!({
            "groups": ["a", 7, "b"],
            "role": "c",
            "realm_access": { "roles": ["d"] },
            "https://bank/x": { "y": "e" },
            "number": 7,
        }));
        for (claim, expected) in [
            ("groups", vec!["a", "b"]),
            ("role", vec!["c"]),
            ("/realm_access/roles", vec!["d"]),
            ("/role", vec!["c"]),
            ("/https:~1~1bank~1x/y", vec!["e"]),
            ("number", vec![]),
            ("missing", vec![]),
            ("/missing/roles", vec![]),
        ] {
            assert_eq!(groups(&claims, claim), expected, "{claim}");
        }
    }

    #[test]
    fn roles_come_from_groups_with_exactly_these_names() {
        let map = RoleGroups {
            owner: vec!["owners".to_owned()],
            auditor: vec!["owners".to_owned(), "audit".to_owned()],
            ..RoleGroups::default()
        };
        let roles = |groups: &[&str]| roles::of_groups(&map, groups);
        assert_eq!(roles(&["owners"]), Roles::from_iter([Role::Owner, Role::Auditor]));
        assert_eq!(roles(&["audit", "staff"]), Roles::from_iter([Role::Auditor]));
        assert_eq!(roles(&["Owners", "owner", ""]), Roles::default());
    }

    #[test]
    fn a_name_is_the_first_that_is_not_empty() {
        let name = |value| name(&claims(&value));
        assert_eq!(name(json!({ "name": " \n", "email": "a@b" })).as_deref(), Some("a@b"));
        assert_eq!(name(json!({ "name": 7 })), None);
        let long = name(json!({ "name": "n".repeat(200) })).unwrap();
        assert_eq!(long.len(), LONGEST_NAME);
    }
}
