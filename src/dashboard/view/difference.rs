//! The difference between two states of a resource.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::list::table;
use super::words::isolated;

/// The card with the changed and the unchanged members.
pub(crate) fn card(before: Option<&Value>, after: Option<&Value>) -> Markup {
    let faint = |text: &str| html! { span.faint { (text) } };
    let (changed, same) = difference(before, after);
    html! {
        section.card.difference aria-labelledby="difference" {
            h2 #difference { "Changes" }
            @if changed.is_empty() {
                p.faint { "No visible member changed." }
            } @else {
                (table("Changes", &["Member", "Before", "After"], changed.iter().map(|change| vec![
                    html! { (change.member) },
                    html! { @match &change.before { Some(was) => del { (value(was)) }, None => (faint("—")) } },
                    html! { @match &change.after { Some(is) => ins { (value(is)) }, None => (faint("—")) } },
                ])))
            }
            @if !same.is_empty() {
                details {
                    summary { "Unchanged members" }
                    (table("Unchanged members", &["Member", "Value"], same.iter().map(|(member, kept)| vec![
                        html! { (member) }, value(kept),
                    ])))
                }
            }
        }
    }
}

/// A member that changed.
#[derive(Debug, PartialEq)]
struct Changed {
    member: String,
    before: Option<Value>,
    after: Option<Value>,
}

/// The changed and the unchanged members.
fn difference(
    before: Option<&Value>,
    after: Option<&Value>,
) -> (Vec<Changed>, Vec<(String, Value)>) {
    let nothing = Map::new();
    let members = |state: Option<&Value>| match state {
        Some(Value::Object(members)) => members.clone(),
        _ => nothing.clone(),
    };
    let (before, mut after) = (members(before), members(after));
    let (mut changed, mut same) = (Vec::new(), Vec::new());
    for (member, was) in before {
        match after.remove(&member) {
            Some(is) if is == was => same.push((member, was)),
            is => changed.push(Changed { member, before: Some(was), after: is }),
        }
    }
    changed.extend(after.into_iter().map(|(member, is)| Changed {
        member,
        before: None,
        after: Some(is),
    }));
    (changed, same)
}

fn value(value: &Value) -> Markup {
    match value {
        Value::Null => html! { "none" },
        Value::String(text) => isolated(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            html! { (value) }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_lists_added_removed_and_changed_members() {
        let before = json!({"name": "a", "tier": "standard", "old": 1});
        let after = json!({"name": "b", "tier": "standard", "new": null});
        let (changed, same) = difference(Some(&before), Some(&after));
        let of = |member: &str, before, after| Changed { member: member.to_owned(), before, after };
        let expected = [
            of("name", Some(json!("a")), Some(json!("b"))),
            of("old", Some(json!(1)), None),
            of("new", None, Some(Value::Null)),
        ];
        assert_eq!(changed, expected);
        assert_eq!(same, [("tier".to_owned(), json!("standard"))]);
        assert_eq!(difference(None, Some(&after)).0.len(), 3);
    }
}
