//! The policy that a credential is bound to.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use sqlx::FromRow;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::store::POLICY_NUMBER;
use crate::ids::{Named as _, PolicyId, PolicyKind};
use crate::policy_number::PolicyNumber;
use crate::resource::{ColumnGroup, Columns, FieldInput, Member, Value, string};
use formats::json::{Text, ValueKind};
use formats::problem::{Code, Problem, Problems};

/// The policy that a credential is bound to, if any. The API shows its number, the row has its
/// identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq, FromRow)]
pub struct BoundPolicy {
    #[sqlx(rename = "policy_number")]
    number: Option<PolicyNumber>,
    #[sqlx(rename = "policy_id")]
    id: Option<PolicyId>,
}

/// The problem of a number that no policy has.
pub(crate) const UNKNOWN_POLICY: &str = "must be the number of an existing policy";

impl BoundPolicy {
    /// The number of the policy.
    pub fn number(&self) -> Option<&str> {
        self.number.as_ref().map(PolicyNumber::as_str)
    }

    /// The number that a request gives. Its policy is not known yet.
    pub(crate) fn requested(&self) -> Option<&PolicyNumber> {
        self.number.as_ref()
    }

    /// The policy.
    pub(crate) fn id(&self) -> Option<PolicyId> {
        self.id
    }

    /// The same with its policy.
    pub(crate) fn found(self, id: Option<PolicyId>) -> Self {
        Self { id, ..self }
    }
}

/// A request names the policy; its identifier is found later.
impl Value for BoundPolicy {
    const INPUT: FieldInput = FieldInput::Reference(PolicyKind::PREFIX);
    const NULLABLE: bool = true;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        if text.kind() == ValueKind::Null {
            return Member::Given(Self::default());
        }
        string(text, field, problems, |number| {
            let number =
                number.parse().map_err(|_| Problem::of_body(Code::Unknown, UNKNOWN_POLICY))?;
            Ok(Self { number: Some(number), id: None })
        })
    }
}

impl ColumnGroup for BoundPolicy {
    const COLUMNS: &'static [&'static str] = &["policy_id", POLICY_NUMBER];

    fn write(&self, columns: &mut Columns) {
        columns.set("policy_id", self.id);
    }
}

impl Serialize for BoundPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number.serialize(serializer)
    }
}

impl PartialSchema for BoundPolicy {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .item(Ref::from_schema_name(PolicyNumber::name()))
            .into()
    }
}

impl ToSchema for BoundPolicy {
    fn name() -> Cow<'static, str> {
        "BoundPolicy".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        PolicyNumber::schemas(schemas);
    }
}
