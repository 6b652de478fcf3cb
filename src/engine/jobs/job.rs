//! The names of the background jobs, and what their absence means.

use std::time::Duration;

use formats::closed_set;

/// How long housekeeping waits after the start of an instance, so that it does not compete with the first requests.
pub(crate) const STARTING: Duration = Duration::from_secs(5);

closed_set! {
    /// A background job.
    pub enum Job: "Job" {
        /// Measures the database.
        DatabaseMonitor = "database_monitor",
        /// Receives change notifications.
        Notices = "notices",
        /// Commits audit records.
        AuditWriter = "audit_writer",
        /// Writes the events of unauthenticated requests.
        SecurityWriter = "security_writer",
        /// Records lost and found tokens.
        TokenEvents = "token_events",
        /// Seals audit records.
        Sealer = "sealer",
        /// Forwards sealed audit records.
        Forwarder = "forwarder",
        /// Creates and closes the days of the audit log.
        AuditDays = "audit_days",
        /// Sums the traffic.
        TrafficSums = "traffic_sums",
        /// Destroys, rotates and compares keys.
        KeyMaintenance = "key_maintenance",
        /// Compares the cryptographic floor with the keys and with other instances.
        Floor = "floor",
        /// Gets the row key, and records invalid rows.
        Rows = "rows",
        /// Compares public keys with the tokens.
        PublicKeys = "public_keys",
        /// Counts the changes that wait for approval.
        PendingChanges = "pending_changes",
        /// Writes the last use of credentials.
        LastUse = "last_use",
        /// Fetches the keys of token issuers.
        IssuerKeys = "issuer_keys",
        /// Fetches the keys of the OpenID Connect provider.
        ProviderKeys = "provider_keys",
        /// Reconnects to the shared storage of rate limits.
        RateLimits = "rate_limits",
        /// Follows the primary of several database servers.
        Primary = "primary",
        /// Reloads the TLS files.
        TlsFiles = "tls_files",
        /// Reads which jobs of one instance have a leader.
        Leaders = "leaders",
    }
}

/// Which instances run a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instances {
    /// Each of them.
    Each,
    /// One at a time. The others take over.
    One,
}

/// What it means that a job does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The instance is not ready.
    NotReady,
    /// The service is degraded.
    Degraded,
}

/// What a job is held to.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub(super) job: Job,
    pub(super) period: Duration,
    pub(super) instances: Instances,
    pub(super) absence: Absence,
}

impl Job {
    /// What the job is held to: the longest time between two signs of life, the instances that run it, and
    /// what its absence means.
    pub const fn spec(self) -> Spec {
        use Absence::{Degraded, NotReady};
        use Instances::{Each, One};
        let (seconds, instances, absence) = match self {
            Self::DatabaseMonitor => (5, Each, NotReady),
            Self::Notices => (10, Each, NotReady),
            // Two attempts of the default deadline, and some time.
            Self::AuditWriter => (15, Each, NotReady),
            Self::SecurityWriter => (30, Each, Degraded),
            Self::TokenEvents => (30, Each, Degraded),
            Self::Sealer | Self::Forwarder => (5, One, Degraded),
            Self::AuditDays | Self::PublicKeys => (60, One, Degraded),
            Self::TrafficSums => (10, One, Degraded),
            // Its work can take half an hour.
            Self::KeyMaintenance => (35 * 60, Each, Degraded),
            // It examines every row.
            Self::Rows => (10 * 60, Each, Degraded),
            Self::Floor => (30, Each, Degraded),
            Self::PendingChanges => (60, Each, Degraded),
            Self::LastUse => (30, Each, Degraded),
            Self::IssuerKeys | Self::ProviderKeys => (60, Each, Degraded),
            Self::RateLimits => (10, Each, Degraded),
            Self::Primary => (60, Each, Degraded),
            Self::TlsFiles => (10, Each, Degraded),
            Self::Leaders => (10, Each, Degraded),
        };
        Spec { job: self, period: Duration::from_secs(seconds), instances, absence }
    }
}

impl Spec {
    /// The number of periods after which a job of one instance is missing.
    const PERIODS: u32 = 3;

    /// A job that works at this interval.
    pub fn every(self, interval: Duration) -> Self {
        Self { period: self.period.max(interval), ..self }
    }

    /// The longest time between two signs of life.
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// The instances that run the job.
    pub const fn instances(&self) -> Instances {
        self.instances
    }

    /// How long after the start of an instance the job starts.
    pub(super) const fn starts_after(&self) -> Duration {
        match self.job {
            Job::AuditDays
            | Job::TrafficSums
            | Job::KeyMaintenance
            | Job::PublicKeys
            | Job::LastUse
            | Job::PendingChanges
            | Job::Leaders => STARTING,
            Job::DatabaseMonitor
            | Job::Notices
            | Job::AuditWriter
            | Job::SecurityWriter
            | Job::TokenEvents
            | Job::Sealer
            | Job::Forwarder
            | Job::Floor
            | Job::Rows
            | Job::IssuerKeys
            | Job::ProviderKeys
            | Job::RateLimits
            | Job::Primary
            | Job::TlsFiles => Duration::ZERO,
        }
    }

    /// What the absence of the job means.
    pub const fn absence(&self) -> Absence {
        self.absence
    }

    /// The time without a sign of life after which the job is missing.
    pub fn patience(&self) -> Duration {
        match self.instances {
            Instances::Each => self.period,
            Instances::One => self.period * Self::PERIODS,
        }
    }
}

impl From<Job> for Spec {
    fn from(job: Job) -> Self {
        job.spec()
    }
}
