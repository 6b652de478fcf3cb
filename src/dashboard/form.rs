//! Submitted forms and query strings, and the JSON bodies made from them.

use std::fmt;

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use engine::management::{Error, Expected};
use engine::resource::{RequestBody, ResourceRequest};

/// The fields of a form. It may hold secrets, and wipes itself.
#[derive(Clone, Default)]
pub(super) struct Form(Vec<(String, Zeroizing<String>)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded`. Browsers write line ends as CR LF.
    pub(super) fn of(encoded: &[u8]) -> Self {
        let fields = form_urlencoded::parse(encoded);
        let fields = fields.map(|(name, value)| {
            let value = Zeroizing::new(value.into_owned());
            (name.into_owned(), Zeroizing::new(value.replace("\r\n", "\n")))
        });
        Self(fields.collect())
    }

    /// The same form with one more field.
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), Zeroizing::new(value.into())));
        self
    }

    /// The same form with one more field, if there is a value.
    pub(super) fn with_some(self, name: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The trimmed value of a field; empty if the field is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The unchanged value of a field; empty if the field is missing.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// The trimmed value of a field that is not empty.
    pub(super) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// All values of a name, such as the selected checkboxes of a group.
    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let fields = self.0.iter().filter(move |(given, _)| given == name);
        fields.map(|(_, value)| value.as_str())
    }

    /// The names of the fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|given| given == value)
    }

    /// The revision that the page showed.
    pub(super) fn expected(&self) -> Expected {
        match self.some("revision") {
            None => Expected::Any,
            Some(text) => Expected::OneOf(text.parse().into_iter().collect()),
        }
    }

    /// The fields that are not empty, as a query string.
    pub(super) fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.0.iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        query.finish()
    }

    /// The same form without a field.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(given, _)| given != name);
        self
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// The request body of the API, made from a form.
#[derive(Default)]
pub(super) struct Body(pub(super) Map<String, Value>);

impl Body {
    /// A member with this value.
    pub(super) fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The same body with these members.
    pub(super) fn and(mut self, members: Map<String, Value>) -> Self {
        self.0.extend(members);
        self
    }

    /// A member with this value, if there is one.
    pub(super) fn set_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// The request that creates a resource.
    pub(super) fn into_new<B: RequestBody>(self) -> Result<ResourceRequest<B>, Error> {
        Ok(ResourceRequest::of_json(&Value::Object(self.0), ResourceRequest::to_create)?)
    }

    pub(super) fn into_change<B: RequestBody>(self) -> Result<ResourceRequest<B>, Error> {
        Ok(ResourceRequest::of_json(&Value::Object(self.0), ResourceRequest::to_update)?)
    }

    /// The request that restores a deleted resource.
    pub(super) fn into_restoration<B: RequestBody>(self) -> Result<ResourceRequest<B>, Error> {
        Ok(ResourceRequest::of_json(&Value::Object(self.0), ResourceRequest::to_restore)?)
    }
}

/// The value of a field for a whole number. Other text stays a string, which the API refuses.
pub(super) fn number(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

/// The value of a field for a time in UTC. Browsers omit seconds and the zone.
pub(super) fn moment(text: &str) -> Value {
    match text.len() {
        16 => format!("{text}:00.000Z").into(),
        19 => format!("{text}.000Z").into(),
        23 => format!("{text}Z").into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_keeps_its_input() {
        let form = Form::of(b"name=+Zo%C3%AB+&text=a%0D%0Ab&use=enc&use=sig&empty=");
        assert_eq!(form.text("name"), "Zoë");
        assert_eq!(form.raw("text"), "a\nb");
        assert_eq!(form.all("use").collect::<Vec<_>>(), ["enc", "sig"]);
        assert!(form.has("use", "sig") && !form.has("use", "data"));
        assert_eq!(form.some("empty"), None);
        assert_eq!(form.some("absent"), None);
        assert_eq!(form.without("text").query(), "name=+Zo%C3%AB+&use=enc&use=sig");
    }

    #[test]
    fn a_time_is_parsed_in_the_format_of_browsers() {
        assert_eq!(moment("2030-01-31T12:00"), "2030-01-31T12:00:00.000Z");
        assert_eq!(moment("2030-01-31T12:00:05"), "2030-01-31T12:00:05.000Z");
        assert_eq!(moment("2030-01-31T12:00:05.250Z"), "2030-01-31T12:00:05.250Z");
        assert_eq!(moment("tomorrow"), "tomorrow");
    }
}
