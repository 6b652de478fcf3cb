//! The rights of administrators: the roles that each needs, and the proof that an author has one.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Deref;

use super::changes::Authority;
use super::{Actor, Context, Error, System};
use crate::auth::Role::{self, Auditor, Custodian, Owner, PolicyAdmin};
use crate::settings::Approvals;

/// A right that some roles give.
pub trait Right: Copy + Debug + Send + Sync + 'static {
    /// The roles that give it.
    const ROLES: &'static [Role];
}

macro_rules! rights {
    ($($(#[doc = $doc:literal])* $right:ident: $($role:ident)+;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $right;

        impl Right for $right {
            const ROLES: &'static [Role] = &[$($role),+];
        }
    )*};
}

rights! {
    /// Reads services, policies and keys.
    ReadResources: Owner Custodian PolicyAdmin Auditor;
    /// Creates, imports, changes and deletes keys.
    ManageKeys: Owner Custodian;
    /// Creates, changes and deletes services and policies.
    ManagePolicies: Owner PolicyAdmin;
    /// Reads, creates, changes and revokes the API keys of applications.
    ManageApiKeys: Owner PolicyAdmin;
    /// Does the same with admin keys and their roles.
    ManageAdminKeys: Owner;
    /// Reads, creates, changes and deletes workload identities.
    ManageIdentities: Owner PolicyAdmin;
    /// Freezes everything, and ends the freeze.
    FreezeEverything: Owner;
    /// Reads people.
    ReadPeople: Owner Auditor;
    /// Locks and unlocks people.
    ManagePeople: Owner;
    /// Reads and exports the audit logs.
    ReadAudit: Owner Auditor;
    /// Reads reports, which name the people of the audit log.
    ReadReports: Owner Auditor;
}

/// The proof that the author of a use case has the right `R`, with the context of the use case.
///
/// Only this module makes one: for a request with [`Context::authorize`], for the service itself, and for the
/// proposer of an approved change.
#[derive(Clone, Debug)]
pub struct Authorized<R> {
    context: Context,
    authority: Authority,
    right: PhantomData<R>,
}

impl Context {
    /// Proves that the author has a role for `R`.
    pub fn authorize<R: Right>(&self) -> Result<Authorized<R>, Error> {
        if !self.may::<R>() {
            return Err(Error::Forbidden(R::ROLES));
        }
        Ok(Authorized {
            context: self.clone(),
            authority: Authority::Administrator,
            right: PhantomData,
        })
    }

    /// Whether the author has a role for `R`.
    pub fn may<R: Right>(&self) -> bool {
        self.actor.roles.meet(R::ROLES)
    }
}

impl System {
    /// The authority of the service itself.
    pub(super) fn authorize<R: Right>(&self) -> Authorized<R> {
        Authorized {
            context: Context {
                clock: self.clock.clone(),
                entropy: self.entropy,
                catalog: self.catalog.clone(),
                pool: self.pool.clone(),
                approvals: Approvals::default(),
                actor: Actor::system(self.name),
                floor: self.floor,
                post_quantum: false,
                owners_sign_in: false,
                people_issuer: self.people_issuer.clone(),
                claim: None,
            },
            authority: Authority::System,
            right: PhantomData,
        }
    }
}

impl<R: Right> Authorized<R> {
    /// The authority of the proposer of an approved change, whose roles each change checks again.
    pub(super) fn of_proposer(context: Context, authority: Authority) -> Self {
        Self { context, authority, right: PhantomData }
    }
}

impl<R> Authorized<R> {
    /// Whether the author also has a role for `Q`. The service itself needs none.
    pub fn may<Q: Right>(&self) -> bool {
        matches!(self.authority, Authority::System) || self.context.may::<Q>()
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }
}

impl<R> Deref for Authorized<R> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}
