//! The request that a form of declared members makes, and the form that shows a resource.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::form::{Form, moment, number};
use engine::resource::{Field as Member, FieldInput};
use formats::json::Text;

/// The value of a choice between all and some values, in the form and in a list of the API.
pub(super) const ALL: &str = "all";
pub(super) const SOME: &str = "some";
const ANY: &str = "*";

/// The field that chooses between all values and a selection.
pub(super) fn scope_of(name: &str) -> String {
    format!("{name}.scope")
}

/// The body of a request with these members. An empty field is left out of a request that creates a
/// resource. In a request that changes it, it is null, or an empty text where null is not possible.
pub(crate) fn body(
    form: &Form,
    members: impl Iterator<Item = Member>,
    is_new: bool,
) -> Map<String, Value> {
    object(form, "", members, is_new)
}

fn object(
    form: &Form,
    prefix: &str,
    members: impl Iterator<Item = Member>,
    is_new: bool,
) -> Map<String, Value> {
    let values = members.filter_map(|member| {
        let name = format!("{prefix}{}", member.name);
        let value = value(form, &name, &member);
        let empty = || match (is_new, member.nullable) {
            (false, true) => Some(Value::Null),
            (false, false) if !has_choices(member.input) => Some("".into()),
            (true, _) | (false, false) => None,
        };
        Some((member.name.to_owned(), value.or_else(empty)?))
    });
    values.collect()
}

/// Whether a browser sends nothing for the member where nothing is chosen.
fn has_choices(input: FieldInput) -> bool {
    matches!(input, FieldInput::References(_) | FieldInput::Object(_))
}

fn value(form: &Form, name: &str, member: &Member) -> Option<Value> {
    let selected = || Value::from(form.all(name).collect::<Vec<_>>());
    match member.input {
        FieldInput::Line
        | FieldInput::Paragraph
        | FieldInput::OneOf(..)
        | FieldInput::Reference(_) => form.some(name).map(Value::from),
        FieldInput::Number => form.some(name).map(number),
        FieldInput::Flag => Some(form.has(name, "yes").into()),
        FieldInput::Moment => form.some(name).map(moment),
        FieldInput::Secret => Some(form.raw(name)).filter(|text| !text.is_empty()).map(Value::from),
        FieldInput::PublicKey | FieldInput::PrivateKey | FieldInput::Json => {
            form.some(name).map(object_or_text)
        }
        FieldInput::AnyOf(_) if !member.nullable => Some(selected()),
        FieldInput::AnyOf(_) | FieldInput::References(_) => {
            match (form.text(&scope_of(name)), member.input) {
                (SOME, _) => Some(selected()),
                (ALL, FieldInput::References(_)) => Some([ANY].as_slice().into()),
                _ => None,
            }
        }
        FieldInput::Lines => {
            let lines = form.text(name).split(['\n', ',', ' ']).map(str::trim);
            let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
            (!lines.is_empty()).then(|| lines.into())
        }
        FieldInput::Object(_) if member.nullable && !form.has(name, "yes") => None,
        FieldInput::Object(members) => {
            let object = object(form, &format!("{name}."), members.iter().copied(), true);
            (member.nullable || !object.is_empty()).then(|| object.into())
        }
    }
}

/// A JWK is an object, and so are claims. PEM and other texts are strings, and so is an object with a member that appears
/// twice, which the request then refuses.
fn object_or_text(text: &str) -> Value {
    let object = Text::parse(text.as_bytes()).ok().and_then(|text| text.tree().ok());
    object.filter(Value::is_object).unwrap_or_else(|| text.into())
}

/// The form that shows these members of a resource.
pub(crate) fn form_of(
    resource: &impl Serialize,
    members: impl Iterator<Item = &'static Member>,
) -> Form {
    let resource = serde_json::to_value(resource).unwrap_or_default();
    fill(Form::default(), "", &resource, members)
}

fn fill(
    form: Form,
    prefix: &str,
    object: &Value,
    members: impl Iterator<Item = &'static Member>,
) -> Form {
    members.fold(form, |form, member| {
        let name = format!("{prefix}{}", member.name);
        match (object.get(member.name), member.input) {
            (Some(Value::Bool(true)), _) => form.with(&name, "yes"),
            (Some(Value::Number(number)), _) => form.with(&name, number.to_string()),
            // With milliseconds, so that an untouched field changes nothing.
            (Some(Value::String(time)), FieldInput::Moment) => {
                form.with(&name, time.trim_end_matches('Z'))
            }
            (Some(Value::String(text)), _) => form.with(&name, text.as_str()),
            (Some(Value::Array(items)), FieldInput::Lines) => {
                let lines: Vec<_> = items.iter().filter_map(Value::as_str).collect();
                form.with(&name, lines.join("\n"))
            }
            (Some(Value::Array(items)), _) if items.iter().any(|item| item == ANY) => {
                form.with(&scope_of(&name), ALL)
            }
            (Some(Value::Array(items)), _) => {
                let form = form.with(&scope_of(&name), SOME);
                let items = items.iter().filter_map(Value::as_str);
                items.fold(form, |form, item| form.with(&name, item))
            }
            (Some(Value::Null), FieldInput::AnyOf(_)) => form.with(&scope_of(&name), ALL),
            (Some(object @ Value::Object(_)), FieldInput::Json) => {
                form.with(&name, object.to_string())
            }
            (Some(object @ Value::Object(_)), FieldInput::Object(members)) => {
                fill(form.with(&name, "yes"), &format!("{name}."), object, members.iter())
            }
            _ => form,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use engine::management::api_keys::ApiKeyRequest;
    use engine::management::services::ServiceRequest;
    use engine::policy::PolicyRequest;
    use engine::resource::RequestBody;

    /// The body of a form with these fields that changes a resource.
    fn sent<B: RequestBody>(fields: &[(&str, &str)]) -> Value {
        let form = fields.iter();
        let form = form.fold(Form::default(), |form, (name, value)| form.with(name, *value));
        body(&form, B::FIELDS.iter().copied(), false).into()
    }

    #[test]
    fn an_untouched_form_changes_nothing() {
        let key = json!({
            "name": "billing", "type": "live", "serviceId": "svc_1", "policyNumber": null,
            "allowedOperations": ["protect", "hash"], "allowedCidrs": ["10.0.0.0/8", "::1/128"],
            "expiresAt": "2030-01-31T12:00:00.250Z", "roles": [], "person": null,
            "certificateSha256": null,
        });
        let form = form_of(&key, ApiKeyRequest::FIELDS.iter());
        let again = Value::from(body(&form, ApiKeyRequest::FIELDS.iter().copied(), false));
        assert_eq!(again, key);
        let policy = json!({
            "policyNumber": "POL-1", "name": "at rest", "description": null,
            "destinationServiceId": "svc_1", "keyOwnership": "destination_managed",
            "alg": "RSA-OAEP-256", "enc": "A256GCM",
            "allowedServiceIds": ["*"], "allowedOperations": ["protect"],
            "contextRequired": false, "requireBinding": false,
            "headers": { "typ": "JOSE", "iat": true, "cty": "json" },
        });
        // Another page changes the state.
        let members = PolicyRequest::FIELDS.iter();
        let members = members.filter(|member| policy.get(member.name).is_some());
        let form = form_of(&policy, members.clone());
        let again = Value::from(body(&form, members.copied(), false));
        assert_eq!(again, policy);
        let service = json!({
            "name": "billing", "description": "Two\nlines", "status": "frozen", "tier": "enterprise",
            "rateLimit": { "requestsPerSecond": 7, "burst": 9 }, "publishKeys": true,
        });
        let form = form_of(&service, ServiceRequest::FIELDS.iter());
        let again = Value::from(body(&form, ServiceRequest::FIELDS.iter().copied(), false));
        assert_eq!(again, service);
    }

    #[test]
    fn an_empty_field_is_left_out_or_null_or_empty() {
        let empty = Form::default();
        let new = Value::from(body(&empty, ServiceRequest::FIELDS.iter().copied(), true));
        assert_eq!(new, json!({ "publishKeys": false }));
        let changed = sent::<ServiceRequest>(&[]);
        assert_eq!((&changed["name"], changed.get("rateLimit")), (&json!(""), None));
        let key = sent::<ApiKeyRequest>(&[("allowedOperations", "hash")]);
        assert_eq!(key["allowedOperations"], Value::Null);
        assert_eq!((&key["expiresAt"], &key["allowedCidrs"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn all_services_are_an_explicit_choice() {
        let listed = ("allowedServiceIds", "svc_1");
        let scope = |scope| sent::<PolicyRequest>(&[listed, ("allowedServiceIds.scope", scope)]);
        assert_eq!(scope("all")["allowedServiceIds"], json!(["*"]));
        assert_eq!(scope("some")["allowedServiceIds"], json!(["svc_1"]));
        assert_eq!(scope("").get("allowedServiceIds"), None);
    }
}
