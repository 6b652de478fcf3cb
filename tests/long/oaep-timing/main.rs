//! Tests that the time to refuse OAEP padding does not depend on the fault, like dudect: it decodes two
//! kinds of faults in random order and compares the times with Welch's t-test. It measures only the
//! decoding, because a complete request would hide a difference of microseconds.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::print_stdout, reason = "a manual check")]

#[path = "../timing/compare.rs"]
mod compare;
#[path = "../../../hsm/src/crypt/padding.rs"]
#[allow(dead_code, unused_imports, reason = "includes a file with its tests")]
mod padding;

/// The path in the decoder.
pub(crate) use formats::algorithms::OaepHash;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use aws_lc_rs::rand;
use sha2::{Digest, Sha256};

use compare::{KEPT, SUSPICIOUS, median, welch};

/// Decodings per kind. The first argument overrides it.
const SAMPLES: usize = 200_000;
/// Different blocks per kind.
const BLOCKS: usize = 512;

/// The length of an RSA-2048 modulus, and of the hash.
const MODULUS: usize = 256;
const HASH: usize = 32;

fn main() -> ExitCode {
    let samples = std::env::args().find_map(|argument| argument.parse().ok());
    let samples = samples.unwrap_or(SAMPLES);
    let mut is_suspicious = false;
    println!("{samples} decodings of each kind; |t| above {SUSPICIOUS} is a difference\n");
    println!("| padding | against | median ns | median ns | t of all | of 95 % | of 75 % |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for (fault, make) in FAULTS {
        let times = interleaved([make, rubbish], samples);
        let [one, other] = times.each_ref().map(|times| median(times.clone()));
        let compared = KEPT.map(|kept| welch(&times, kept));
        let [all, most, many] = compared;
        println!(
            "| {fault} | rubbish | {one:.0} | {other:.0} | {all:.2} | {most:.2} | {many:.2} |"
        );
        is_suspicious |= compared.iter().any(|t| t.abs() > SUSPICIOUS);
    }
    if is_suspicious {
        println!("\nthe decoding time differs for some kinds of padding");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Creates a block with invalid padding.
type Make = fn() -> Vec<u8>;

/// The kinds of faults. Each is compared with a random block, like a ciphertext for another key.
const FAULTS: [(&str, Make); 7] = [
    // A kind against itself shows the noise of the machine.
    ("rubbish", rubbish),
    ("first byte not zero", || block(1, &data(label(), 158))),
    ("first byte not zero, longest message", || block(1, &data(label(), 0))),
    ("first byte not zero, empty message", || block(1, &data(label(), 190))),
    ("another label", || block(0, &data(random(), 158))),
    ("no separator", || block(0, &[label().to_vec(), vec![0; 191]].concat())),
    ("a byte before the separator", || {
        let mut data = data(label(), 158);
        data[HASH + 3] = 2;
        block(0, &data)
    }),
];

fn rubbish() -> Vec<u8> {
    let mut rubbish = [random::<MODULUS>()].concat();
    rubbish[0] = 0;
    rubbish
}

/// The data block before masking: zeros, the separator and a random message.
fn data(label: [u8; HASH], zeros: usize) -> Vec<u8> {
    let message = &random::<MODULUS>()[..MODULUS - 2 * HASH - 2 - zeros];
    [&label, vec![0; zeros].as_slice(), &[1], message].concat()
}

fn label() -> [u8; HASH] {
    Sha256::digest([]).into()
}

fn block(first: u8, data: &[u8]) -> Vec<u8> {
    let seed = random::<HASH>();
    let data = masked(data, &seed);
    let seed = masked(&seed, &data);
    [vec![first], seed, data].concat()
}

/// XORs MGF1 of a seed.
fn masked(bytes: &[u8], seed: &[u8]) -> Vec<u8> {
    let mask = (0_u32..).flat_map(|counter| {
        Sha256::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize()
    });
    let pairs = bytes.iter().zip(mask);
    pairs.map(|(byte, mask)| byte ^ mask).collect()
}

fn random<const LENGTH: usize>() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    assert!(rand::fill(&mut bytes).is_ok(), "no random bytes");
    bytes
}

/// Times of decodings in nanoseconds, with the kinds in random order.
fn interleaved(kinds: [Make; 2], samples: usize) -> [Vec<f64>; 2] {
    let blocks = kinds.map(|make| (0..BLOCKS).map(|_| make()).collect::<Vec<_>>());
    let mut times = [Vec::with_capacity(samples), Vec::with_capacity(samples)];
    // Copied to one place, so that caching does not favour a kind.
    let mut block = [0; MODULUS];
    while times.iter().any(|times| times.len() < samples) {
        for dice in random::<64>() {
            let one = usize::from(dice & 1);
            let which = times[one].len() % BLOCKS;
            block.copy_from_slice(&blocks[one][which]);
            let started = Instant::now();
            let decoded = padding::remove(OaepHash::Sha256, MODULUS, black_box(&block));
            let took = started.elapsed();
            assert!(black_box(decoded).is_err(), "the padding was to be wrong");
            times[one].push(took.as_secs_f64() * 1e9);
        }
    }
    times
}
