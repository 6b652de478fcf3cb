//! `sealward report`: signed reports for auditors, over the API, and their verification without it.

mod verify;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Failure;
use super::client::{ApiAccess, Client};
use super::key::invalid;
use engine::policy::PolicyNumber;
use engine::reports::{Day, RegisterFilter};
use formats::material::Algorithm;

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write the register of keys to a file, and its signature beside it.
    Keys(Keys),
    /// Write keys, algorithms and TLS as a CycloneDX bill of materials to a file, and its signature beside it.
    Cbom(Fetch),
    /// Print the public keys that have signed reports, as a JWK Set.
    Jwks(Jwks),
    /// Verify the signature of a report, without the service, its token or a network.
    ///
    /// The exit code is 0 if the report is unchanged, 1 if it was changed or another key signed it, and 2 if the
    /// check was not possible.
    Verify(verify::Arguments),
}

#[derive(Debug, clap::Args)]
struct Keys {
    #[command(flatten)]
    fetch: Fetch,
    /// Write a table instead of JSON.
    #[arg(long)]
    csv: bool,
}

#[derive(Debug, clap::Args)]
struct Fetch {
    #[command(flatten)]
    connection: ApiAccess,
    /// The file. The signature has the same name with .jws appended.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The last day whose uses count, in UTC. Default: yesterday.
    #[arg(long, value_name = "YYYY-MM-DD")]
    at: Option<Day>,
    /// Only keys with this algorithm, for example RSA-2048.
    #[arg(long)]
    algorithm: Option<Algorithm>,
    /// Only keys whose strength is below this number of bits.
    #[arg(long, value_name = "BITS")]
    strength_below: Option<u16>,
    /// Only keys that this policy uses.
    #[arg(long, value_name = "NUMBER")]
    policy: Option<PolicyNumber>,
}

#[derive(Debug, clap::Args)]
struct Jwks {
    #[command(flatten)]
    connection: ApiAccess,
}

pub(super) async fn run(arguments: Arguments) -> ExitCode {
    let work = move || match arguments.action {
        Command::Keys(wanted) => {
            let media = if wanted.csv { "text/csv" } else { "application/json" };
            finished(fetch(&wanted.fetch, "keys", media))
        }
        Command::Cbom(wanted) => finished(fetch(&wanted, "cbom", "application/json")),
        Command::Jwks(wanted) => finished(jwks(&wanted)),
        Command::Verify(wanted) => verify::run(&wanted),
    };
    // The client waits for the network: not on a thread that others wait for.
    tokio::task::spawn_blocking(work).await.unwrap_or(ExitCode::FAILURE)
}

fn finished(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn fetch(wanted: &Fetch, report: &str, media: &str) -> Result<(), Failure> {
    let client = Client::new(&wanted.connection)?;
    let filter = RegisterFilter {
        algorithm: wanted.algorithm,
        strength_below: wanted.strength_below,
        policy_number: wanted.policy.clone(),
    };
    let at = wanted.at.map(|at| format!("at={at}"));
    let filter = Some(filter.to_string()).filter(|filter| !filter.is_empty());
    let query: Vec<String> = at.into_iter().chain(filter).collect();
    let path = format!("/admin/reports/{report}?{}", query.join("&"));
    let (body, signature) = client.signed_file(&path, media)?;
    write_signed(&wanted.output, &body, &signature)
}

/// Writes a report and its signature, and prints their names.
pub(super) fn write_signed(path: &Path, body: &[u8], signature: &str) -> Result<(), Failure> {
    write(path, body)?;
    let beside = signature_of(path);
    write(&beside, format!("{signature}\n").as_bytes())?;
    writeln!(io::stdout(), "{}\n{}", path.display(), beside.display())?;
    Ok(())
}

fn jwks(wanted: &Jwks) -> Result<(), Failure> {
    let keys = Client::new(&wanted.connection)?.get("/admin/reports/jwks")?;
    writeln!(io::stdout(), "{keys:#}")?;
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| invalid(path, error))
}

/// The file with the signature of a report.
fn signature_of(report: &Path) -> PathBuf {
    let mut name = OsString::from(report);
    name.push(".jws");
    name.into()
}
