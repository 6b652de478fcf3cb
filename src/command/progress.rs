//! The progress of a command, on a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Bytes,
    Envelopes,
}

/// A line on standard error that shows how far a command is. It shows nothing if that is no terminal.
#[derive(Debug)]
pub(super) struct ProgressLine {
    unit: Unit,
    total: Option<u64>,
    began: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

/// The time between two updates.
const PERIOD: Duration = Duration::from_millis(200);
const BAR: usize = 24;

impl ProgressLine {
    pub(super) fn new(unit: Unit, total: Option<u64>) -> Self {
        let is_terminal = stderr().is_terminal();
        Self { unit, total, began: Instant::now(), shown: None, is_terminal }
    }

    /// Shows how much is done, and a note.
    pub(super) fn show(&mut self, done: u64, note: &str) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= PERIOD);
        if self.is_terminal && (is_due || self.total == Some(done)) {
            self.shown = Some(Instant::now());
            let line = self.line(done, note, self.began.elapsed());
            // Nothing depends on the display.
            let _ = write!(stderr(), "\r\x1b[K{line}");
        }
    }

    /// Ends the line.
    pub(super) fn end(&mut self) {
        if self.shown.take().is_some() {
            let _ = writeln!(stderr());
        }
    }

    fn line(&self, done: u64, note: &str, elapsed: Duration) -> String {
        let amount = amount(self.unit, done);
        let rate = rate(self.unit, done, elapsed);
        let Some(total) = self.total.filter(|total| *total > 0) else {
            return format!("{amount}  {rate}{note}");
        };
        let part = u64::min(done.saturating_mul(100) / total, 100);
        let filled = usize::try_from(part).unwrap_or_default() * BAR / 100;
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
        let total = self::amount(self.unit, total);
        format!("[{bar}] {part:>3} %  {amount} of {total}  {rate}{note}")
    }
}

fn amount(unit: Unit, count: u64) -> String {
    match unit {
        Unit::Envelopes => format!("{count} envelopes"),
        Unit::Bytes => bytes(count),
    }
}

fn rate(unit: Unit, done: u64, elapsed: Duration) -> String {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let each_second = done.saturating_mul(1000) / millis;
    match unit {
        Unit::Envelopes => format!("{each_second}/s"),
        Unit::Bytes => format!("{}/s", bytes(each_second)),
    }
}

/// A number of bytes with one decimal.
fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = u128::from(count) * 10;
    let mut unit = "B";
    for larger in units {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = larger;
    }
    match unit {
        "B" => format!("{count} B"),
        _ => format!("{}.{} {unit}", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(unit: Unit, total: Option<u64>) -> ProgressLine {
        ProgressLine { is_terminal: true, ..ProgressLine::new(unit, total) }
    }

    #[test]
    fn a_line_shows_part_amount_and_rate() {
        let line = meter(Unit::Bytes, Some(4 << 20)).line(1 << 20, "", Duration::from_secs(2));
        assert_eq!(line, "[######..................]  25 %  1.0 MiB of 4.0 MiB  512.0 KiB/s");
        let line = meter(Unit::Envelopes, None).line(90, "  1 failed", Duration::from_secs(3));
        assert_eq!(line, "90 envelopes  30/s  1 failed");
    }

    #[test]
    fn amounts_have_one_decimal() {
        for (count, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 40, "5.0 TiB")]
        {
            assert_eq!(bytes(count), expected);
        }
    }
}
