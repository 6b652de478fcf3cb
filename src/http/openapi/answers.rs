//! The responses that handlers return, as the document describes them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;
use utoipa::openapi::header::Header;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder, Type,
};
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder, Schema};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

use super::headers::always;
use crate::admin::{
    Accepted, BillOfMaterials, Created, CreatedWithoutPath, Current, KeyRegisterFile, List,
    LogText, LogTile, NoContent, ProofBody, RecordProof, RecordsAnswer, SIGNATURE, WithoutEtag,
};
use crate::discovery::Published;
use crate::error::ApiError;
use crate::probes::ProbeResult;
use crate::published_log::{PublishedCheckpoint, PublishedTile};
use engine::audit::RecordSource;
use engine::keys::JwkSet;
use engine::management::Cursor;
use engine::reports::{Register, ReportFormat};

type Responses = BTreeMap<String, RefOr<Response>>;

impl<R: ToSchema> IntoResponses for Current<R> {
    fn responses() -> Responses {
        let answer = json_of("The current resource.", reference::<R>()).header("ETag", etag());
        one("200", answer)
    }
}

impl<R: ToSchema> IntoResponses for Created<R> {
    fn responses() -> Responses {
        let place = always(
            "The path of the new resource.",
            json!("/admin/services/svc_01h455vb4pex5vsknk084sn02q"),
        );
        let answer = json_of("The new resource.", reference::<R>())
            .header("ETag", etag())
            .header("Location", place);
        one("201", answer)
    }
}

impl<T: ToSchema> IntoResponses for CreatedWithoutPath<T> {
    fn responses() -> Responses {
        one("201", json_of("The new object.", reference::<T>()))
    }
}

impl IntoResponses for Accepted<'_> {
    fn responses() -> Responses {
        let place = always(
            "The path of the change.",
            json!("/admin/changes/chg_01h455vb4pex5vsknk084sn02q"),
        );
        let description = "The change needs approval and was proposed. Nothing has happened yet.";
        one("202", json_of(description, reference::<Self>()).header("Location", place))
    }
}

impl<R: ToSchema> IntoResponses for WithoutEtag<R> {
    fn responses() -> Responses {
        one("200", json_of("The current resource.", reference::<R>()))
    }
}

impl IntoResponses for NoContent {
    fn responses() -> Responses {
        one("204", ResponseBuilder::new().description("Deleted."))
    }
}

impl<T: ToSchema> IntoResponses for List<T> {
    fn responses() -> Responses {
        one("200", json_of("A page of the list.", reference::<Self>()))
    }
}

impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let next = OneOfBuilder::new()
            .item(reference::<Cursor>())
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .description(Some("The cursor of the next page; null on the last page."));
        ObjectBuilder::new()
            .description(Some("A page of a list."))
            .property("items", ArrayBuilder::new().items(reference::<T>()))
            .property("nextCursor", next)
            .required("items")
            .required("nextCursor")
            .into()
    }
}

impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }
}

impl IntoResponses for ProbeResult {
    fn responses() -> Responses {
        let answer = json_of("The probe succeeded.", reference::<Self>());
        one("200", answer)
    }
}

impl<S: RecordSource<Record: ToSchema>> IntoResponses for RecordsAnswer<S> {
    fn responses() -> Responses {
        let mut responses = List::<S::Record>::responses();
        if let Some(RefOr::T(page)) = responses.get_mut("200") {
            page.description = "A page of the list, or all matching records as a file.".to_owned();
            page.content.insert("text/csv".to_owned(), text_content().into());
            page.content.insert("application/x-ndjson".to_owned(), text_content().into());
        }
        responses
    }
}

impl IntoResponses for LogText {
    fn responses() -> Responses {
        let answer = ResponseBuilder::new().description("The text.");
        one("200", answer.content("text/plain", text_content()))
    }
}

impl IntoResponses for LogTile {
    fn responses() -> Responses {
        let answer = ResponseBuilder::new().description("The tile.");
        one("200", answer.content("application/octet-stream", Content::default()))
    }
}

impl IntoResponses for PublishedCheckpoint {
    fn responses() -> Responses {
        LogText::responses()
    }
}

impl IntoResponses for PublishedTile {
    fn responses() -> Responses {
        LogTile::responses()
    }
}

impl IntoResponses for RecordProof {
    fn responses() -> Responses {
        let answer = json_of("The proof.", reference::<ProofBody>());
        one("200", answer.content("text/plain", text_content()))
    }
}

impl IntoResponses for KeyRegisterFile {
    fn responses() -> Responses {
        let answer = json_of("The report.", reference::<Register>());
        one("200", signed(answer.content("text/csv", text_content())))
    }
}

impl IntoResponses for BillOfMaterials {
    fn responses() -> Responses {
        let bill = ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .description(Some("A bill of materials in CycloneDX 1.6."));
        let answer = ResponseBuilder::new().description("The report.");
        let media = ReportFormat::CycloneDx.media_type();
        one("200", signed(answer.content(media, Content::new(Some(bill)))))
    }
}

/// The header of a report.
fn signed(answer: ResponseBuilder) -> ResponseBuilder {
    let description = "The signature of the body: a detached JWS (RFC 7515, appendix F).";
    answer.header(SIGNATURE, always(description, json!("eyJhbGciOiJFUzI1NiJ9..c2ln")))
}

impl IntoResponses for Published {
    fn responses() -> Responses {
        let tag = || always("The digest of the key set, for `If-None-Match`.", json!("\"…\""));
        let keys = json_of("A JWK Set (RFC 7517).", reference::<JwkSet>()).header("ETag", tag());
        let known = ResponseBuilder::new()
            .description("The key set still has the ETag of the request.")
            .header("ETag", tag());
        Responses::from([("200".to_owned(), keys.into()), ("304".to_owned(), known.into())])
    }
}

/// The document adds the errors of a route itself.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        Responses::new()
    }
}

fn text_content() -> Content {
    Content::new(Some(ObjectBuilder::new().schema_type(Type::String)))
}

/// A response with a body in JSON.
pub(super) fn json_of(description: &str, schema: impl Into<RefOr<Schema>>) -> ResponseBuilder {
    ResponseBuilder::new()
        .description(description)
        .content("application/json", Content::new(Some(schema)))
}

pub(super) fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn etag() -> Header {
    always("The revision of the resource, for `If-Match`.", json!("\"1\""))
}

fn one(status: &str, response: ResponseBuilder) -> Responses {
    Responses::from([(status.to_owned(), response.into())])
}
