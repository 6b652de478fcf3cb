//! Client requests to callgrind: start, stop and dump the counts.
//!
//! Valgrind recognizes a client request by a sequence of instructions that otherwise has no effect
//! (`valgrind.h`, "client requests"). Without valgrind, requests have no effect.
#![allow(unsafe_code, reason = "client requests need inline assembly")]

use std::ffi::CString;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The numbers of `callgrind.h`.
const CALLGRIND: usize = 0x4354_0000;
const ZERO: usize = CALLGRIND + 1;
const TOGGLE: usize = CALLGRIND + 2;
const DUMP: usize = CALLGRIND + 3;
const START: usize = CALLGRIND + 4;
const STOP: usize = CALLGRIND + 5;

/// Starts instrumentation. The program runs faster without it.
pub(crate) fn start() {
    request(START, 0);
    request(ZERO, 0);
}

/// Stops instrumentation.
pub(crate) fn stop() {
    request(STOP, 0);
}

/// Counts `times` runs of `work`.
pub(crate) fn counting(name: &str, times: usize, mut work: impl FnMut()) {
    // The first run costs more.
    work();
    start();
    count(|| (0..times).for_each(|_| work()));
    dump(name, times);
    stop();
}

/// Counts this run of `work` on this thread.
pub(crate) fn count<T>(work: impl FnOnce() -> T) -> T {
    request(TOGGLE, 0);
    let done = work();
    request(TOGGLE, 0);
    done
}

/// Writes the counts since the last dump, for `times` runs.
pub(crate) fn dump(name: &str, times: usize) {
    let name = CString::new(format!("{name} {times}")).expect("no zeros");
    request(DUMP, name.as_ptr() as usize);
}

/// A future that counts its own work, and not the work of other tasks.
pub(crate) struct Counted<F>(Pin<Box<F>>);

impl<F: Future> Counted<F> {
    pub(crate) fn of(future: F) -> Self {
        Self(Box::pin(future))
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        count(|| self.0.as_mut().poll(context))
    }
}

#[cfg(target_arch = "x86_64")]
fn request(number: usize, argument: usize) {
    let words = [number, argument, 0, 0, 0, 0];
    // SAFETY: the rotations add up to 128 bits, and the exchange is of a register with itself. Only
    // the flags and rdx change, which the operands declare. Valgrind reads `words`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize, _: usize) {
    panic!("instructions can be counted on x86_64 only");
}
