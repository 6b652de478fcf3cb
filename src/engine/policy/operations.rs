//! The operations that policies allow.

use crate::operation::{Operation, Operations};
use crate::resource::{FieldInput, Member, Value, list};
use formats::json::Text;
use formats::problem::{Code, Problem, Problems};

/// The operations that happen under a policy.
const UNDER_POLICIES: [Operation; 3] =
    [Operation::Protect, Operation::Unprotect, Operation::Rewrap];

/// Operations that a policy can allow.
#[derive(Debug)]
pub(super) struct PolicyOperations(Operations);

/// One of them.
struct PolicyOperation(Operation);

impl PolicyOperations {
    /// All of them.
    pub(super) fn all() -> Operations {
        UNDER_POLICIES.into_iter().collect()
    }
}

impl From<PolicyOperations> for Operations {
    fn from(operations: PolicyOperations) -> Self {
        operations.0
    }
}

impl Value for PolicyOperations {
    const INPUT: FieldInput = FieldInput::AnyOf(&[
        Operation::Protect.name(),
        Operation::Unprotect.name(),
        Operation::Rewrap.name(),
    ]);

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let operations = list::<PolicyOperation>(text, field, problems);
        operations.map(|all| Self(all.into_iter().map(|operation| operation.0).collect()))
    }
}

impl Value for PolicyOperation {
    const INPUT: FieldInput = PolicyOperations::INPUT;

    fn read(text: Text<'_>, field: &str, problems: &mut Problems) -> Member<Self> {
        let read = Operation::read(text, field, problems);
        if let Member::Given(operation) = read
            && !UNDER_POLICIES.contains(&operation)
        {
            let names = UNDER_POLICIES.map(Operation::name).join(", ");
            let message = format!("must be one of {names}");
            problems.note(Problem::new(field, Code::Unsupported, message));
            return Member::Wrong;
        }
        read.map(Self)
    }
}
