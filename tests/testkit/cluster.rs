//! A Postgres cluster for one test, which can be paused, disconnected and killed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

use super::waiting::PATIENCE;
use super::{Database, Proxy, postgres, within};

/// Settings without `fsync`: commits survive killed processes but not a crash of the machine.
const SETTINGS: &str = "listen_addresses = ''
fsync = off
synchronous_commit = on
max_connections = 100
shared_buffers = 64MB
log_min_messages = fatal
";

/// An empty cluster behind a proxy.
pub struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    /// Postgres refuses to run as root.
    user: (u32, u32),
    server: Option<Child>,
    pub proxy: Proxy,
    port: u16,
}

impl Cluster {
    /// Creates a cluster with the programs of the shared cluster, starts it, and migrates its
    /// database `postgres`.
    pub async fn start() -> Self {
        let mut shared = postgres::cluster().connect().await.expect("a connection");
        let ask = async |connection: &mut PgConnection, sql| -> String {
            let value = sqlx::query_scalar(sql).fetch_one(connection).await;
            value.expect("a value")
        };
        let programs = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";
        let programs = ask(&mut shared, programs).await;
        let data = ask(&mut shared, "SELECT current_setting('data_directory')").await;
        shared.close().await.expect("leave the cluster");
        let owner = fs::metadata(data).expect("the cluster of all tests");
        let user = (owner.uid(), owner.gid());

        let mut cluster = Self::of(programs.into(), user).await;
        cluster.make();
        cluster.start_again().await;
        let mut owner = cluster.past_proxy().connect().await.expect("a connection");
        let migrated = sqlx::migrate!("../../migrations").run(&mut owner).await;
        migrated.expect("migrate the database");
        owner.close().await.expect("leave the cluster");
        cluster
    }

    /// A synchronous standby of this cluster.
    pub async fn standby(&self) -> Self {
        let standby = self.asynchronous_standby().await;
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
        self.run("SELECT pg_reload_conf()").await;
        standby
    }

    /// A standby that can lack the last commits of this cluster.
    pub async fn asynchronous_standby(&self) -> Self {
        let mut standby = Self::of(self.programs.clone(), self.user).await;
        let created = self
            .program("pg_basebackup")
            .args(["--no-sync", "--checkpoint=fast", "--write-recovery-conf"])
            .args(["--username=postgres", "--host"])
            .arg(&self.folder)
            .arg("--pgdata")
            .arg(standby.data())
            .stderr(Stdio::piped())
            .output()
            .expect("pg_basebackup runs");
        assert!(created.status.success(), "{created:?}");
        // It copies the settings of the primary. The last value of a setting applies.
        let settings = format!("unix_socket_directories = '{}'\n", standby.folder.display());
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(standby.data().join("postgresql.auto.conf"))
            .expect("its settings");
        file.write_all(settings.as_bytes()).expect("its settings");
        standby.start_again().await;
        standby
    }

    /// Ends the replication to this standby.
    pub async fn stop_replication(&self) {
        self.run("ALTER SYSTEM SET primary_conninfo = ''").await;
        self.run("SELECT pg_reload_conf()").await;
        within(PATIENCE, async || {
            let mut standby = self.past_proxy().connect().await.expect("a connection");
            let receivers = "SELECT count(*) FROM pg_stat_wal_receiver";
            let receivers = sqlx::query_scalar::<_, i64>(receivers);
            receivers.fetch_one(&mut standby).await.expect("a count") == 0
        })
        .await;
    }

    /// A cluster with an empty folder.
    async fn of(programs: PathBuf, user: (u32, u32)) -> Self {
        let name = format!("sealward-cluster-{:032x}", rand::random::<u128>());
        let folder = std::env::temp_dir().join(name);
        let (port, proxy) = Proxy::for_socket(folder.join(".s.PGSQL.5432")).await;
        let cluster = Self { folder, programs, user, server: None, proxy, port };
        cluster.make_folder(&cluster.folder);
        cluster
    }

    /// A folder that belongs to the Postgres user.
    pub fn subfolder(&self, name: &str) -> PathBuf {
        let folder = self.folder.join(name);
        self.make_folder(&folder);
        folder
    }

    fn make_folder(&self, folder: &Path) {
        let (user, group) = self.user;
        fs::create_dir(folder).expect("a folder");
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("its rights");
        chown(folder, Some(user), Some(group)).expect("its owner");
    }

    /// Executes SQL as the superuser without the proxy.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.past_proxy().connect().await.expect("a connection");
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        sql.execute(&mut connection).await.expect("execute the statement");
    }

    /// The number that SQL counts, as the superuser without the proxy.
    pub async fn count(&self, sql: &str) -> i64 {
        let mut connection = self.past_proxy().connect().await.expect("a connection");
        let count = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
        count.fetch_one(&mut connection).await.expect("a count")
    }

    /// The user of its processes.
    pub fn user(&self) -> (u32, u32) {
        self.user
    }

    fn make(&self) {
        let created = self
            .program("initdb")
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C.UTF-8", "--no-sync", "--pgdata"])
            .arg(self.data())
            .stderr(Stdio::piped())
            .output()
            .expect("initdb runs");
        assert!(created.status.success(), "{created:?}");
        let settings = format!("{SETTINGS}unix_socket_directories = '{}'\n", self.folder.display());
        fs::write(self.data().join("postgresql.auto.conf"), settings).expect("its settings");
    }

    /// The database `postgres` through the proxy.
    pub fn through_proxy(&self) -> Database {
        let options = PgConnectOptions::new_without_pgpass();
        let options = options.host("127.0.0.1").port(self.port);
        Database::of_cluster(options.username("postgres").database("postgres"))
    }

    /// The database `postgres` without the proxy.
    pub fn past_proxy(&self) -> PgConnectOptions {
        let options = PgConnectOptions::new_without_pgpass();
        let options = options.socket(&self.folder).port(5432);
        options.username("postgres").database("postgres")
    }

    /// Pauses every process (SIGSTOP).
    pub fn freeze(&self) {
        self.signal_all(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal_all(Signal::CONT);
    }

    /// Stops the cluster in fast mode: it closes all connections and rolls back open transactions.
    pub async fn stop(&mut self) {
        self.end(Signal::INT).await;
    }

    /// Stops the cluster immediately, like a crash.
    pub async fn crash(&mut self) {
        self.end(Signal::QUIT).await;
    }

    /// Starts the cluster and waits until it accepts connections.
    pub async fn start_again(&mut self) {
        let server = self.program("postgres").arg("-D").arg(self.data()).spawn();
        self.server = Some(server.expect("postgres starts"));
        within(PATIENCE, async || {
            let connected = self.past_proxy().connect().await;
            connected.is_ok()
        })
        .await;
    }

    async fn end(&mut self, how: Signal) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        send(server.id(), how);
        within(PATIENCE, async || server.try_wait().expect("its state").is_some()).await;
    }

    /// Signals the server first, so that it starts no further processes.
    fn signal_all(&self, signal: Signal) {
        let Some(server) = &self.server else { return };
        send(server.id(), signal);
        let children = format!("/proc/{0}/task/{0}/children", server.id());
        let children = fs::read_to_string(children).expect("its processes");
        for child in children.split_whitespace() {
            send(child.parse().expect("a process id"), signal);
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(&self.folder).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            command.uid(self.user.0).gid(self.user.1);
        }
        command
    }
}

fn send(process: u32, signal: Signal) {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    // The process may have exited.
    let _ = kill_process(id.expect("a process id"), signal);
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.thaw();
        if let Some(mut server) = self.server.take() {
            send(server.id(), Signal::QUIT);
            let _ = server.wait();
        }
        // A remaining folder in /tmp does not fail the test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
