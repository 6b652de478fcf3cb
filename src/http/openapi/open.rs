//! Keeps the schemas of responses open: clients accept new members and new values.
//!
//! Many generated clients refuse a value that is not in an `enum`, so responses list their known values
//! in `x-extensible-enum` instead. Requests keep their closed schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema as _;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AdditionalProperties, AllOf, ArrayItems, Object, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Response, Schema};

use formats::envelope::Envelope;

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// The names of the schemas to which requests and responses refer.
#[derive(Default)]
pub(super) struct Roots {
    requests: BTreeSet<String>,
    responses: BTreeSet<String>,
}

impl Roots {
    pub(super) fn add(&mut self, operation: &Operation) {
        gather(&operation.request_body, &mut self.requests);
        gather(&operation.parameters, &mut self.requests);
        gather(&operation.responses, &mut self.responses);
    }

    pub(super) fn add_responses(&mut self, shared: &BTreeMap<String, RefOr<Response>>) {
        gather(shared, &mut self.responses);
    }

    /// Opens the schemas of responses, merges and inlines schemas that generators do not support, and
    /// removes schemas without references. An envelope has a fixed format, so it stays closed.
    pub(super) fn open(&self, schemas: &mut Schemas) {
        let closed = schemas.clone();
        let envelope = Envelope::name();
        let mut without_envelope = closed.clone();
        without_envelope.remove(envelope.as_ref());
        let in_responses = reachable(&self.responses, &without_envelope);
        let in_requests = reachable(&self.requests, &closed);
        for (name, schema) in schemas.iter_mut() {
            let is_value = !matches!(schema, RefOr::T(Schema::Object(object)) if !object.properties.is_empty());
            let is_shared = is_value && in_requests.contains(name);
            let is_response = in_responses.contains(name) && !is_shared && *name != envelope;
            Opener { closed: &closed, is_response }.visit(schema);
        }
        let roots = &self.requests | &self.responses;
        let used = reachable(&roots, schemas);
        schemas.retain(|name, _| used.contains(name));
    }
}

struct Opener<'a> {
    closed: &'a Schemas,
    is_response: bool,
}

impl Opener<'_> {
    fn visit(&self, schema: &mut RefOr<Schema>) {
        if let RefOr::Ref(reference) = schema
            && let Some(target) = self.inlined(reference)
        {
            *schema = target;
        }
        if let RefOr::T(Schema::AllOf(all_of)) = schema {
            *schema = self.merged(all_of).into();
        }
        match schema {
            RefOr::T(Schema::Object(object)) => self.visit_object(object),
            RefOr::T(Schema::Array(array)) => {
                if let ArrayItems::RefOrSchema(items) = &mut array.items {
                    self.visit(items);
                }
            }
            RefOr::T(Schema::OneOf(one_of)) => {
                one_of.items.iter_mut().for_each(|item| self.visit(item));
                if let Some(nullable) = nullable_value(&one_of.items) {
                    *schema = nullable;
                }
            }
            RefOr::T(_) | RefOr::Ref(_) => {}
        }
    }

    fn visit_object(&self, object: &mut Object) {
        object.properties.values_mut().for_each(|member| self.visit(member));
        if !self.is_response {
            return;
        }
        if let Some(values) = object.enum_values.take() {
            let known = Extensions::from_iter([(KNOWN_VALUES, values)]);
            object.extensions.get_or_insert_default().merge(known);
        }
        if !object.properties.is_empty() && object.additional_properties.is_none() {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(true)));
        }
    }

    /// One object with the members of all parts. Some generators lose null when they merge the parts.
    fn merged(&self, all_of: &AllOf) -> Object {
        let mut merged = Object::new();
        merged.description.clone_from(&all_of.description);
        for part in &all_of.items {
            let target = match part {
                RefOr::Ref(reference) => {
                    name(&reference.ref_location).and_then(|name| self.closed.get(name))
                }
                RefOr::T(_) => Some(part),
            };
            if let Some(RefOr::T(Schema::Object(object))) = target {
                merged.properties.extend(object.properties.clone());
                merged.required.extend(object.required.clone());
            }
        }
        merged.required.sort();
        merged.required.dedup();
        merged
    }

    /// The target of a reference, if it does not stay a reference: a list of values in a response, or
    /// a nullable schema.
    fn inlined(&self, reference: &Ref) -> Option<RefOr<Schema>> {
        let target = self.closed.get(name(&reference.ref_location)?)?;
        let is_inlined = match target {
            RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter().any(is_null),
            RefOr::T(_) | RefOr::Ref(_) => self.is_response && has_values(target, self.closed),
        };
        let mut target = is_inlined.then(|| target.clone())?;
        describe(&mut target, &reference.description);
        Some(target)
    }
}

const KNOWN_VALUES: &str = "x-extensible-enum";

/// Whether a schema lists its values, or the values of its items.
fn has_values(schema: &RefOr<Schema>, schemas: &Schemas) -> bool {
    match schema {
        RefOr::T(Schema::Object(object)) => object.enum_values.is_some(),
        RefOr::T(Schema::Array(array)) => {
            matches!(&array.items, ArrayItems::RefOrSchema(items) if has_values(items, schemas))
        }
        RefOr::T(_) => false,
        RefOr::Ref(reference) => name(&reference.ref_location)
            .and_then(|name| schemas.get(name))
            .is_some_and(|target| has_values(target, schemas)),
    }
}

/// A value or null as one schema with two types, if the value was a reference that is inlined now.
fn nullable_value(items: &[RefOr<Schema>]) -> Option<RefOr<Schema>> {
    let [RefOr::T(Schema::Object(value)), null] = items else {
        return None;
    };
    let SchemaType::Type(kind) = value.schema_type.clone() else {
        return None;
    };
    is_null(null).then(|| {
        let mut value = value.clone();
        value.schema_type = SchemaType::Array(vec![kind, Type::Null]);
        value.into()
    })
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == Type::Null.into())
}

fn describe(schema: &mut RefOr<Schema>, description: &str) {
    if description.is_empty() {
        return;
    }
    let description = Some(description.to_owned());
    match schema {
        RefOr::T(Schema::Object(object)) => object.description = description,
        RefOr::T(Schema::Array(array)) => array.description = description,
        RefOr::T(Schema::OneOf(one_of)) => one_of.description = description,
        RefOr::T(_) | RefOr::Ref(_) => {}
    }
}

/// The schemas to which `roots` lead.
fn reachable(roots: &BTreeSet<String>, schemas: &Schemas) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<String> = roots.iter().cloned().collect();
    while let Some(name) = next.pop() {
        if let Some(schema) = schemas.get(&name)
            && seen.insert(name)
        {
            let mut found = BTreeSet::new();
            gather(schema, &mut found);
            next.extend(found);
        }
    }
    seen
}

/// Adds the names of all schemas to which `part` of the document refers.
fn gather(part: &impl Serialize, names: &mut BTreeSet<String>) {
    fn visit(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    names.extend(name(reference).map(str::to_owned));
                }
                members.values().for_each(|value| visit(value, names));
            }
            Value::Array(items) => items.iter().for_each(|value| visit(value, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    if let Ok(value) = serde_json::to_value(part) {
        visit(&value, names);
    }
}

fn name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/components/schemas/")
}
