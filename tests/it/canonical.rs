//! The work to make the canonical form of numbers, counted in allocations.

#![allow(unsafe_code, reason = "an allocator that counts needs unsafe code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use formats::canonical;
use formats::json::Text;

/// The allocator of the system, which counts the allocations of each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: all calls go to the allocator of the system. Counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The allocations to make the canonical form of an array that has `number` this many times.
fn allocations(number: &str, times: usize) -> usize {
    let array = format!("[{}]", vec![number; times].join(","));
    let text = Text::parse(array.as_bytes()).expect("JSON");
    let before = ALLOCATIONS.get();
    let bytes = canonical::bytes(text).expect("a canonical form");
    let allocations = ALLOCATIONS.get() - before;
    assert!(bytes.len() > times);
    allocations
}

/// The writer makes two allocations for a number. The check of a short number makes none.
#[test]
fn short_numbers_are_not_formatted_to_be_checked() {
    const TIMES: usize = 10_000;
    const GROWTH_OF_BUFFERS: usize = 100;
    for number in ["1e1", "0.5", "-12345678.25", "123456789012345", "1e250"] {
        let allocations = allocations(number, TIMES);
        assert!(allocations <= 2 * TIMES + GROWTH_OF_BUFFERS, "{number}: {allocations}");
    }
    // The check formats a long number, and the count shows it.
    assert!(allocations("0.30000000000000004", TIMES) > 4 * TIMES);
}
