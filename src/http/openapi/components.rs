//! The components that several routes refer to.

use utoipa::ToSchema;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, RefOr, Schema};

use super::headers;
use crate::admin::{Accepted, List, Order, ProofBody};
use crate::error::ErrorBody;
use crate::probes::ProbeResult;
use engine::audit::{Entry, OperationType, Outcome};
use engine::keys::JwkSet;
use engine::ledger::Log;
use engine::management::Cursor;
use engine::management::api_keys;
use engine::management::changes::Proposal;
use engine::management::emergency::Emergency;
use engine::management::events::Recorded;
use engine::management::keys::ImportParameters;
use engine::management::people::Person;
use engine::reports::{KeyEntry, Maker, PolicyEntry, Register, RegisterFilter};

pub(super) const APPLICATION_KEY: &str = "applicationKey";
pub(super) const ADMIN_KEY: &str = "adminKey";

/// All components except those of request bodies and of the resources that these change.
pub(super) fn all() -> Components {
    let mut schemas = Vec::new();
    add::<ErrorBody<'_>>(&mut schemas);
    add::<OperationType>(&mut schemas);
    add::<Outcome>(&mut schemas);
    add::<Cursor>(&mut schemas);
    add::<ProbeResult>(&mut schemas);
    add::<JwkSet>(&mut schemas);
    add_whole::<Emergency>(&mut schemas);
    add_whole::<ImportParameters>(&mut schemas);
    add::<api_keys::Created>(&mut schemas);
    add_list::<Entry>(&mut schemas);
    add_list::<Recorded>(&mut schemas);
    add_list::<Proposal>(&mut schemas);
    add_list::<Person>(&mut schemas);
    add::<Accepted<'_>>(&mut schemas);
    add::<ProofBody>(&mut schemas);
    add::<Log>(&mut schemas);
    add::<Order>(&mut schemas);
    add_whole::<Register>(&mut schemas);
    add_whole::<RegisterFilter>(&mut schemas);
    add_whole::<KeyEntry>(&mut schemas);
    add_whole::<PolicyEntry>(&mut schemas);
    add_whole::<Maker>(&mut schemas);
    let mut components = Components::new();
    components.schemas.extend(schemas);
    for (name, header) in headers::shared() {
        components.headers.insert(name.to_owned(), header.into());
    }
    let request_id = headers::request_id().into();
    components.parameters.insert(headers::REQUEST_ID.to_owned(), request_id);
    let bearer = |description: &str| {
        let http = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description));
        SecurityScheme::Http(http.build())
    };
    components.add_security_scheme(
        APPLICATION_KEY,
        bearer(
            "An API key of type `live` or `test`: `sk_live_…` or `sk_test_…`, or a JSON Web Token of a \
             workload",
        ),
    );
    components.add_security_scheme(ADMIN_KEY, bearer("An API key of type `admin`: `sk_admin_…`"));
    components
}

/// Adds a type and the pages of its list.
pub(super) fn add_list<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    add_whole::<T>(schemas);
    add::<List<T>>(schemas);
}

/// The members that can be absent: of resources, and of records of the audit logs.
const ABSENT: [&str; 2] = ["sealValid", "changed"];

/// Adds a type whose members are present, possibly as null.
fn add_whole<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    T::schemas(schemas);
    let mut whole = T::schema();
    if let RefOr::T(Schema::Object(object)) = &mut whole {
        let present = object.properties.keys().filter(|name| !ABSENT.contains(&name.as_str()));
        object.required = present.cloned().collect();
    }
    schemas.push((T::name().into_owned(), whole));
}

fn add<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}
