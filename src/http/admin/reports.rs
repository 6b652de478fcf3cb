//! `/admin/reports`. Reads are not recorded, so that a report does not change the checkpoint that it names.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use super::accept::Accept;
use super::answer::WithoutEtag;
use super::filters::Filters;
use crate::app::App;
use crate::error::ApiError;
use crate::error_code::errors;
use engine::keys::JwkSet;
use engine::management::{Authorized, ReadReports};
use engine::reports::{self, Day, RegisterFilter, RegisterRequest, Report, ReportFormat};

/// The name of the header with the signature, as documents write it.
pub(crate) const SIGNATURE: &str = "X-Report-Signature";

const SIGNATURE_NAME: HeaderName = HeaderName::from_static("x-report-signature");

/// The register of keys, as JSON or as a table.
#[derive(Debug)]
pub(crate) struct KeyRegisterFile(Report);

/// A bill of materials.
#[derive(Debug)]
pub(crate) struct BillOfMaterials(Report);

/// Reports all keys: what they are, who may use them, and when they were used.
///
/// The report names the checkpoints of the audit logs that its changes are in. Reports at the same
/// checkpoints and of the same day have the same bytes, as long as the tokens hold the same keys. With
/// `Accept: text/csv`, the report is a table.
#[utoipa::path(
    get,
    path = "",
    operation_id = "readKeyRegister",
    params(
        ("at" = Option<Day>, Query, description = "The last day whose uses count, in UTC. It must be over. Default: yesterday."),
        RegisterFilter
    ),
    responses(errors::Conflict)
)]
pub(crate) async fn keys(
    context: Authorized<ReadReports>,
    State(App(app)): State<App>,
    accept: Accept,
    filters: Filters,
) -> Result<KeyRegisterFile, ApiError> {
    let request = request(filters)?;
    let format = accept.first(|media| match media {
        "text/csv" => Some(ReportFormat::Csv),
        "application/json" | "*/*" => Some(ReportFormat::Json),
        _ => None,
    });
    let format = format.unwrap_or(ReportFormat::Json);
    let report = reports::report(&context, &app.engine.token, &request, format).await?;
    Ok(KeyRegisterFile(report))
}

/// Reports keys, algorithms and TLS as a cryptographic bill of materials (CycloneDX 1.6).
#[utoipa::path(
    get,
    path = "",
    operation_id = "readCryptographicBillOfMaterials",
    params(
        ("at" = Option<Day>, Query, description = "The last day whose uses count, in UTC. It must be over. Default: yesterday."),
        RegisterFilter
    ),
    responses(errors::Conflict)
)]
pub(crate) async fn cbom(
    context: Authorized<ReadReports>,
    State(App(app)): State<App>,
    filters: Filters,
) -> Result<BillOfMaterials, ApiError> {
    let request = request(filters)?;
    let report =
        reports::report(&context, &app.engine.token, &request, ReportFormat::CycloneDx).await?;
    Ok(BillOfMaterials(report))
}

/// The public keys that have signed reports (RFC 7517). Keep them outside of the service.
#[utoipa::path(get, path = "", operation_id = "readReportKeys")]
pub(crate) async fn jwks(
    context: Authorized<ReadReports>,
) -> Result<WithoutEtag<JwkSet>, ApiError> {
    Ok(WithoutEtag(reports::public_keys(&context).await?))
}

fn request(mut filters: Filters) -> Result<RegisterRequest, ApiError> {
    let at = filters.day("at");
    let filter = RegisterFilter {
        algorithm: filters.one_of("algorithm"),
        strength_below: filters.number("strengthBelow", 1..=512).map(i16::unsigned_abs),
        policy_number: filters.policy_number("policyNumber"),
    };
    filters.finish()?;
    Ok(RegisterRequest { at, filter })
}

fn file(report: Report, name: &str) -> Response {
    let Report { body, format, signature } = report;
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, format.media_type().to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
        (SIGNATURE_NAME, signature),
    ];
    (headers, body).into_response()
}

impl IntoResponse for KeyRegisterFile {
    fn into_response(self) -> Response {
        let name = if self.0.format == ReportFormat::Csv { "keys.csv" } else { "keys.json" };
        file(self.0, name)
    }
}

impl IntoResponse for BillOfMaterials {
    fn into_response(self) -> Response {
        file(self.0, "cbom.json")
    }
}
