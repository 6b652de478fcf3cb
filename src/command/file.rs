//! `sealward file`: encrypts and decrypts files of any size on this machine, with a data key.

use std::path::{Path, PathBuf};

use sealward_client::Progress;
use tokio::io::{stdin, stdout};

use super::Failure;
use super::progress::{ProgressLine, Unit};
use super::service::{ScopeArguments, ServiceAccess};

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Encrypt a file. Only the data key is requested: the content stays on this machine.
    Encrypt(FileArguments),
    /// Decrypt a file, and verify that it is complete and unchanged.
    ///
    /// The target appears when the complete file was verified. On standard output, use the plaintext only if
    /// the exit code is 0.
    Decrypt(FileArguments),
}

#[derive(Debug, clap::Args)]
struct FileArguments {
    #[command(flatten)]
    service: ServiceAccess,
    #[command(flatten)]
    scope: ScopeArguments,
    /// Replace an existing target.
    #[arg(long)]
    force: bool,
    /// The file to read. `-` is standard input.
    source: PathBuf,
    /// The file to write. `-` is standard output.
    target: PathBuf,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.action {
        Command::Encrypt(files) => encrypt(files).await,
        Command::Decrypt(files) => decrypt(files).await,
    }
}

async fn encrypt(files: &FileArguments) -> Result<(), Failure> {
    let (client, scope, mut meter) = files.begin()?;
    let progress = |progress: Progress| meter.show(progress.bytes, "");
    let done = match (files.reads_stdin(), files.writes_stdout()) {
        (false, false) => client.encrypt_file(&files.source, &files.target, &scope, progress).await,
        (false, true) => {
            let source = open(&files.source).await?;
            client.encrypt_stream(source, stdout(), &scope, progress).await
        }
        (true, true) => client.encrypt_stream(stdin(), stdout(), &scope, progress).await,
        (true, false) => {
            client.encrypt_stream_to_file(stdin(), &files.target, &scope, progress).await
        }
    };
    meter.end();
    Ok(done.map(drop)?)
}

async fn decrypt(files: &FileArguments) -> Result<(), Failure> {
    let (client, scope, mut meter) = files.begin()?;
    let progress = |progress: Progress| meter.show(progress.bytes, "");
    let done = match (files.reads_stdin(), files.writes_stdout()) {
        (false, false) => client.decrypt_file(&files.source, &files.target, &scope, progress).await,
        (false, true) => {
            let source = open(&files.source).await?;
            client.decrypt_stream(source, stdout(), &scope, progress).await
        }
        (true, true) => client.decrypt_stream(stdin(), stdout(), &scope, progress).await,
        (true, false) => {
            client.decrypt_stream_to_file(stdin(), &files.target, &scope, progress).await
        }
    };
    meter.end();
    Ok(done.map(drop)?)
}

impl FileArguments {
    fn begin(
        &self,
    ) -> Result<(sealward_client::Client, sealward_client::Scope, ProgressLine), Failure> {
        if !self.force && !self.writes_stdout() && self.target.exists() {
            let message = format!("{} exists; --force replaces it", self.target.display());
            return Err(Failure::Other(message));
        }
        // The size of a sealed file differs so little from that of its plaintext that both serve.
        let size = std::fs::metadata(&self.source).ok().filter(std::fs::Metadata::is_file);
        let meter = ProgressLine::new(Unit::Bytes, size.map(|file| file.len()));
        Ok((self.service.client()?, self.scope.scope(), meter))
    }

    fn reads_stdin(&self) -> bool {
        self.source == Path::new("-")
    }

    fn writes_stdout(&self) -> bool {
        self.target == Path::new("-")
    }
}

async fn open(path: &Path) -> Result<tokio::fs::File, Failure> {
    let opened = tokio::fs::File::open(path).await;
    opened.map_err(|error| super::key::invalid(path, error))
}
