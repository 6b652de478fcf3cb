//! Hardening, arguments, the runtime, the command.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use engine::hardening;
use mimalloc::MiMalloc;
use sealward::command::{self, Arguments};
use tokio::runtime::Runtime;
use zeroizing_alloc::ZeroAlloc;

/// Memory is wiped when it is freed, so that no secret outlives its owner. A request allocates about
/// a hundred times, so the allocator below must be fast.
#[global_allocator]
static MEMORY: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);

fn main() -> ExitCode {
    hardening::harden();
    let arguments = Arguments::parse();
    match Runtime::new() {
        Ok(runtime) => runtime.block_on(command::run(arguments)),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "sealward: cannot start threads: {error}");
            ExitCode::FAILURE
        }
    }
}
