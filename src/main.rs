//! Arguments, the runtime, the command.

use std::process::ExitCode;

use clap::Parser as _;
use sealward::command::{self, Arguments};
use zeroizing_alloc::ZeroAlloc;

/// Memory is wiped when it is freed, so that no secret outlives what held it.
#[global_allocator]
static MEMORY: ZeroAlloc<std::alloc::System> = ZeroAlloc(std::alloc::System);

#[tokio::main]
async fn main() -> ExitCode {
    command::run(Arguments::parse()).await
}
