//! The services that may use a policy.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::ids::{Named as _, ServiceId, ServiceKind};
use crate::resource::{ColumnGroup, Columns, FieldInput, Member, Value, list};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

/// The item for any service.
const ANY: &str = "*";

/// The services that may use a policy. The column is null for any service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedServices {
    /// Any service.
    Any,
    /// These services.
    Only(Vec<ServiceId>),
}

/// One item of the list: a service, or any service.
struct Item(Option<ServiceId>);

impl AllowedServices {
    /// The services of the list; none for any service.
    pub fn listed(&self) -> &[ServiceId] {
        match self {
            Self::Any => &[],
            Self::Only(services) => services,
        }
    }

    /// Whether `service` may use the policy.
    pub(super) fn include(&self, service: ServiceId) -> bool {
        match self {
            Self::Any => true,
            Self::Only(services) => services.contains(&service),
        }
    }
}

impl ColumnGroup for AllowedServices {
    const COLUMNS: &'static [&'static str] = &["allowed_service_ids"];

    fn write(&self, columns: &mut Columns) {
        let services = match self {
            Self::Any => None,
            Self::Only(services) => Some(services.clone()),
        };
        columns.set("allowed_service_ids", services);
    }
}

impl FromRow<'_, PgRow> for AllowedServices {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let column: Option<Vec<ServiceId>> = row.try_get("allowed_service_ids")?;
        Ok(column.map_or(Self::Any, Self::Only))
    }
}

impl Value for AllowedServices {
    const INPUT: FieldInput = FieldInput::References(ServiceKind::PREFIX);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let Member::Given(items) = list::<Item>(text, field, problems) else {
            return Member::Wrong;
        };
        let count = items.len();
        let services: Vec<ServiceId> = items.into_iter().filter_map(|item| item.0).collect();
        if services.len() == count {
            return Member::Given(Self::Only(services));
        }
        if count > 1 {
            let message = "must be a list of service IDs or [\"*\"] alone";
            problems.note(Problem::new(field, Code::Conflict, message));
            return Member::Wrong;
        }
        Member::Given(Self::Any)
    }
}

impl Value for Item {
    const INPUT: FieldInput = FieldInput::Line;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        match text.string() {
            Some(Ok(string)) if string == ANY => Member::Given(Self(None)),
            _ => ServiceId::read(text, field, problems).map(|id| Self(Some(id))),
        }
    }
}

impl Serialize for AllowedServices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => [ANY].serialize(serializer),
            Self::Only(services) => services.serialize(serializer),
        }
    }
}

impl PartialSchema for AllowedServices {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(ObjectBuilder::new().schema_type(Type::String))
            .description(Some("Identifiers of services, or `[\"*\"]` for any service."))
            .min_items(Some(1))
            .max_items(Some(1000))
            .into()
    }
}

impl ToSchema for AllowedServices {
    fn name() -> Cow<'static, str> {
        "AllowedServices".into()
    }
}
