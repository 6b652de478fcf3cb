//! The kinds of change that can need approval.

use formats::closed_set;

closed_set! {
    /// A kind of change that can need the approval of another person.
    #[derive(PartialOrd, Ord)]
    pub enum ChangeKind: "ChangeKind" {
        /// A key is imported, public keys included.
        KeyImport = "key.import",
        /// A key of the token is adopted.
        KeyAdopt = "key.adopt",
        /// Another key protects, encrypts or signs for a service, the first key included.
        KeyActivate = "key.activate",
        /// A key is deleted.
        KeyDestroy = "key.destroy",
        /// A policy is created or allows more.
        PolicyOpen = "policy.open",
        /// A credential of an application is created or allows more.
        CredentialOpen = "credential.open",
        /// An admin key is created or allows more.
        ApiKeyAdmin = "api-key.admin",
    }
}
