//! Statistics that compare two sets of times.

/// Above this absolute t, times distinguish two kinds of fault. Chance alone exceeds it once in
/// 100,000 comparisons.
pub(crate) const SUSPICIOUS: f64 = 4.5;

/// The shares of the fastest times that each comparison uses. The slowest times come from the
/// machine, not from the code.
pub(crate) const KEPT: [f64; 3] = [1.0, 0.95, 0.75];

/// The median time.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Welch's t of the two sets, from the fastest times up to the share `kept`.
pub(crate) fn welch(times: &[Vec<f64>; 2], kept: f64) -> f64 {
    let mut all: Vec<f64> = times.concat();
    all.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index in a list, from a share of its length"
    )]
    let edge = all[((all.len() - 1) as f64 * kept) as usize];
    let [one, other] = times.each_ref().map(|times| {
        let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= edge).collect();
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    (one.0 - other.0) / (one.1 + other.1).sqrt()
}
