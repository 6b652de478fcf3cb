//! What this program says to callgrind, under which it runs: begin to count, stop, and tell so far.
//!
//! Valgrind knows a request by instructions that do nothing elsewhere (`valgrind.h`, "client
//! requests"). Without it they do nothing, and nothing is told.
#![allow(
    unsafe_code,
    reason = "the instructions by which valgrind is spoken to are none of Rust's"
)]

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

/// Gets ready to count. Before it the program runs faster.
pub(crate) fn start() {
    request(START, 0);
    request(ZERO, 0);
}

/// Ends what was started.
pub(crate) fn stop() {
    request(STOP, 0);
}

/// Does something so often, which is all that is counted.
pub(crate) fn counting(name: &str, times: usize, mut work: impl FnMut()) {
    // The first time is always dearer.
    work();
    start();
    request(TOGGLE, 0);
    (0..times).for_each(|_| work());
    request(TOGGLE, 0);
    tell(name, times);
    stop();
}

/// Writes down what was counted since the last time, of so many times.
pub(crate) fn tell(name: &str, times: usize) {
    let name = CString::new(format!("{name} {times}")).expect("no zeros");
    request(DUMP, name.as_ptr() as usize);
}

/// A future whose own work is counted, and no other task's.
pub(crate) struct Counted<F>(Pin<Box<F>>);

impl<F: Future> Counted<F> {
    pub(crate) fn of(future: F) -> Self {
        Self(Box::pin(future))
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        request(TOGGLE, 0);
        let polled = self.0.as_mut().poll(context);
        request(TOGGLE, 0);
        polled
    }
}

#[cfg(target_arch = "x86_64")]
fn request(number: usize, argument: usize) {
    let words = [number, argument, 0, 0, 0, 0];
    // SAFETY: the rotations come to a whole turn and the exchange is of a register with itself, so
    // that nothing changes but the flags and rdx, which are said to. Valgrind reads the words.
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
    panic!("instructions are counted on x86_64");
}
