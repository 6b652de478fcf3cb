//! The types of resources, with their names, paths and identifiers.

use uuid::Uuid;

use crate::catalog::Topic;
use crate::ids::{
    ApiKeyKind, Id, IdentityKind, ImportKeyKind, KeyKind, Named, PersonKind, PolicyKind,
    ProposalKind, ServiceKind,
};
use formats::closed_set;

closed_set! {
    /// The type of a resource.
    pub enum ResourceType: "ResourceType" {
        /// A service.
        Service = "service",
        /// The switch that freezes everything.
        Emergency = "emergency",
        /// A policy.
        Policy = "policy",
        /// A key.
        Key = "key",
        /// An API key.
        ApiKey = "api_key",
        /// A workload identity.
        Identity = "identity",
        /// The wrapping key of an import.
        ImportKey = "import_key",
        /// A change that needs approval.
        Change = "change",
        /// A person who signed in.
        Person = "person",
        /// The dashboard.
        Dashboard = "dashboard",
        /// A management request.
        Request = "request",
        /// An audit log.
        AuditLog = "audit_log",
        /// An instance of the service.
        Instance = "instance",
        /// A PKCS#11 token.
        Token = "token",
    }
}

impl ResourceType {
    /// The part of the catalog that depends on such resources, if any.
    pub(super) const fn topic(self) -> Option<Topic> {
        match self {
            Self::Service => Some(Topic::Services),
            Self::Emergency => Some(Topic::Emergency),
            Self::Policy => Some(Topic::Policies),
            Self::Key | Self::ImportKey => Some(Topic::Keys),
            Self::ApiKey => Some(Topic::ApiKeys),
            Self::Identity => Some(Topic::Identities),
            Self::Person => Some(Topic::People),
            Self::Change
            | Self::Dashboard
            | Self::Request
            | Self::AuditLog
            | Self::Instance
            | Self::Token => None,
        }
    }

    /// Its name for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Emergency => "switch for everything",
            Self::Policy => "policy",
            Self::Key => "key",
            Self::ApiKey => "API key",
            Self::Identity => "workload identity",
            Self::ImportKey => "import key",
            Self::Change => "change",
            Self::Person => "person",
            Self::Dashboard => "dashboard",
            Self::Request => "request",
            Self::AuditLog => "audit log",
            Self::Instance => "instance",
            Self::Token => "token",
        }
    }

    /// The last part of the path of their list; none for types without one.
    pub const fn collection(self) -> Option<&'static str> {
        match self {
            Self::Service => Some("services"),
            Self::Policy => Some("policies"),
            Self::Key => Some("keys"),
            Self::ApiKey => Some("api-keys"),
            Self::Identity => Some("identities"),
            Self::Change => Some("changes"),
            Self::Person => Some("people"),
            Self::Emergency
            | Self::ImportKey
            | Self::Dashboard
            | Self::Request
            | Self::AuditLog
            | Self::Instance
            | Self::Token => None,
        }
    }

    /// The identifier of a resource of this type; none for types without identifiers.
    pub fn id(self, uuid: Uuid) -> Option<String> {
        self.id_form().map(|form| (form.write)(uuid))
    }

    /// The UUID of the identifier of a resource of this type.
    pub(super) fn uuid(self, id: &str) -> Option<Uuid> {
        self.id_form().and_then(|form| (form.read)(id))
    }

    fn id_form(self) -> Option<IdForm> {
        match self {
            Self::Service => Some(IdForm::of::<ServiceKind>()),
            Self::Policy => Some(IdForm::of::<PolicyKind>()),
            Self::Key => Some(IdForm::of::<KeyKind>()),
            Self::ApiKey => Some(IdForm::of::<ApiKeyKind>()),
            Self::Identity => Some(IdForm::of::<IdentityKind>()),
            Self::ImportKey => Some(IdForm::of::<ImportKeyKind>()),
            Self::Change => Some(IdForm::of::<ProposalKind>()),
            Self::Person => Some(IdForm::of::<PersonKind>()),
            Self::Emergency
            | Self::Dashboard
            | Self::Request
            | Self::AuditLog
            | Self::Instance
            | Self::Token => None,
        }
    }
}

/// How identifiers of one kind are written and read.
struct IdForm {
    write: fn(Uuid) -> String,
    read: fn(&str) -> Option<Uuid>,
}

impl IdForm {
    fn of<K: Named>() -> Self {
        Self {
            write: |uuid| Id::<K>::from_uuid(uuid).to_string(),
            read: |id| id.parse().ok().map(Id::<K>::uuid),
        }
    }
}
