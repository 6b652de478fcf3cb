//! Arguments, the runtime, the command.

use std::process::ExitCode;

use clap::Parser as _;
use mimalloc::MiMalloc;
use sealward::command::{self, Arguments};
use zeroizing_alloc::ZeroAlloc;

/// Memory is wiped when it is freed, so that no secret outlives what held it. A request takes and
/// frees a hundred pieces of it, so what lies beneath must be quick.
#[global_allocator]
static MEMORY: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);

#[tokio::main]
async fn main() -> ExitCode {
    command::run(Arguments::parse()).await
}
