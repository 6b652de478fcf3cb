//! `sealward rewrap-all`: makes new envelopes of all envelopes of a file, in batches.

mod lines;
mod output;

use std::io::{Write as _, stderr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sealward_client::{Client, Error, ErrorKind, Protected, Scope, Sealed, Target};
use serde_json::json;

use self::lines::{InputLine, Lines};
use self::output::Output;
use super::Failure;
use super::envelope::TargetArguments;
use super::progress::{ProgressLine, Unit};
use super::service::{ScopeArguments, ServiceAccess};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    service: ServiceAccess,
    #[command(flatten)]
    scope: ScopeArguments,
    #[command(flatten)]
    target: TargetArguments,
    /// The new envelopes, one per line, in the order of the input.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The lines that failed, each with its number and the error. Default: OUTPUT.errors.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Continue a run that was interrupted.
    #[arg(long)]
    resume: bool,
    /// The envelopes of a request: 1 to 1000. Each costs one unit of the rate limit.
    #[arg(long, value_name = "COUNT", default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    batch: u16,
    /// How long to wait while the service is not available, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    patience: u64,
    /// The envelopes, one per line. A line is an envelope, or an object with the member jwe: the output keeps its
    /// other members, and its members policyNumber and context have precedence.
    input: PathBuf,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let run = Run {
        client: arguments.service.client()?,
        scope: arguments.scope.scope(),
        target: arguments.target.target(),
        patience: Duration::from_secs(arguments.patience),
    };
    let errors = arguments.errors.clone().unwrap_or_else(|| {
        let mut name = arguments.output.clone().into_os_string();
        name.push(".errors");
        name.into()
    });
    let mut output = Output::open(&arguments.output, &errors, arguments.resume)?;
    let mut lines = Lines::open(&arguments.input)?;
    lines.skip(output.lines())?;
    let mut meter = ProgressLine::new(Unit::Envelopes, None);
    let before = output.lines();
    loop {
        let batch = lines.next(usize::from(arguments.batch))?;
        if batch.is_empty() {
            break;
        }
        let results = run.rewrap(&batch).await?;
        for (line, result) in batch.iter().zip(results) {
            match result {
                Ok(made) => output.add(&line.with(&made.envelope)?)?,
                Err(error) => output.add_error(&failure(line, &error))?,
            }
        }
        output.save()?;
        let note = format!("  {} failed", output.failed());
        meter.show(output.lines() - before, &note);
    }
    meter.end();
    let (done, failed) = (output.lines(), output.failed());
    output.finish()?;
    let summary = format!("{} envelopes are new, {failed} failed", done - failed);
    writeln!(stderr(), "{summary}")?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Other(format!("{failed} envelopes failed: see {}", errors.display()))),
    }
}

/// What applies to all batches.
struct Run {
    client: Client,
    scope: Scope,
    target: Target,
    patience: Duration,
}

/// The longest time between two attempts.
const PAUSE: Duration = Duration::from_secs(5);

impl Run {
    /// The result of each line. It waits while the service is not available or the rate limit is exceeded.
    async fn rewrap(&self, lines: &[InputLine]) -> Result<Vec<Result<Protected, Error>>, Failure> {
        let began = Instant::now();
        let mut results = self.attempt(lines).await;
        loop {
            let is_temporary = match &results {
                Ok(results) => results.iter().any(is_temporary),
                Err(error) => error.is_retryable(),
            };
            if !is_temporary || began.elapsed() >= self.patience {
                return Ok(results?);
            }
            tokio::time::sleep(PAUSE.min(self.patience)).await;
            results = self.attempt(lines).await;
        }
    }

    async fn attempt(&self, lines: &[InputLine]) -> Result<Vec<Result<Protected, Error>>, Error> {
        let scopes: Vec<_> = lines.iter().map(|line| line.scope(&self.scope)).collect();
        let items = lines.iter().zip(&scopes);
        let items = items.filter_map(|(line, scope)| {
            Some((Sealed::Envelope(line.envelope()?), scope, &self.target))
        });
        let mut made = self.client.rewrap_batch(items).await?.into_iter();
        let result = |line: &InputLine| match line.envelope() {
            Some(_) => made.next().unwrap_or(Err(line.not_an_envelope())),
            None => Err(line.not_an_envelope()),
        };
        Ok(lines.iter().map(result).collect())
    }
}

/// Whether the item of a batch can succeed later.
fn is_temporary(result: &Result<Protected, Error>) -> bool {
    result
        .as_ref()
        .is_err_and(|error| matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::RateLimited))
}

fn failure(line: &InputLine, error: &Error) -> String {
    let code = error.code().map(ToString::to_string);
    let details = error.refusal().map(|refusal| refusal.details.as_slice()).unwrap_or_default();
    let error = json!({
        "code": code, "message": error.to_string(), "details": details,
        "requestId": error.request_id(),
    });
    json!({ "line": line.number(), "error": error }).to_string()
}
