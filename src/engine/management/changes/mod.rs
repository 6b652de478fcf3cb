//! Changes that need the approval of other people.
//!
//! A use case proposes its change instead of making it where the settings require approval. The
//! transaction of every change decides that, from the states before and after it, so that no use case
//! can bypass it. The last approval carries out the same use case again, as its proposer.

mod apply;
mod approve;
mod authority;
mod backlog;
mod call;
mod decide;
mod eligible;
mod filter;
mod independence;
mod judgement;
mod proposal;
mod propose;
mod read;
mod store;

pub use self::apply::TokenAccess;
pub use self::approve::approve;
pub(super) use self::authority::Authority;
pub use self::backlog::{Backlog, Pending};
pub(super) use self::call::{NewCredential, StoredRequest};
pub use self::decide::{Choice, DecisionRequest, choice, reject, withdraw};
pub use self::eligible::{Shortage, shortage, unknown_people};
pub use self::filter::ChangeFilter;
pub use self::judgement::Judgement;
pub use self::proposal::{Approval, ChangeStatus, Proposal, Proposed, Proposer};
pub(super) use self::propose::needed;
pub(super) use self::read::HIDDEN_KEY;
pub use self::read::{list, pending, read, shown_again};
pub(crate) use self::store::StoredChange;
pub(super) use self::store::{end_of_person, insert, make_stale};
