//! Charts of requests, errors and response times over an hour, a day or a week.

use std::time::Duration;

use maud::{Markup, html};

use crate::error::PageError;
use crate::extract::PageContext;
use crate::view::chart::{Chart, Series, Shape, exact, plain};
use crate::view::list::empty;
use crate::view::words::{count, millis, moment};
use engine::audit::traffic::{Point, Traffic, Window, summed_up_to, traffic};
use formats::clock::Timestamp;
use formats::closed_set;

closed_set! {
    /// The period of the charts.
    #[derive(Default)]
    pub(super) enum Range: "Range" {
        #[default]
        Hour = "hour",
        Day = "day",
        Week = "week",
    }
}

/// The number of error codes with their own series. The others share one.
const CODES: usize = 4;

impl Range {
    const fn minutes_in_a_step(self) -> u32 {
        match self {
            Self::Hour => 1,
            Self::Day => 15,
            Self::Week => 120,
        }
    }

    const fn steps(self) -> usize {
        match self {
            Self::Hour => 60,
            Self::Day => 96,
            Self::Week => 84,
        }
    }

    /// The window that ends with the step of `now`.
    fn until(self, now: Timestamp) -> Window {
        let step = Duration::from_secs(60) * self.minutes_in_a_step();
        let millis = i64::try_from(step.as_millis()).unwrap_or(i64::MAX);
        let end = Timestamp::from_millis(now.as_millis().div_euclid(millis).saturating_mul(millis))
            .plus(step);
        let steps = u32::try_from(self.steps()).unwrap_or(u32::MAX);
        Window { from: end.minus(step * steps), step, steps: self.steps() }
    }

    /// The label of a step: its time, in a week also its day.
    fn label(self, at: Timestamp) -> String {
        let text = at.to_string();
        let part = match self {
            Self::Hour | Self::Day => text.get(11..16),
            Self::Week => text.get(5..16),
        };
        part.unwrap_or_default().replace('T', " ")
    }
}

pub(super) async fn charts(cx: &PageContext, range: Range) -> Result<Markup, PageError> {
    let window = range.until(cx.now());
    let seen = traffic(cx.context.pool(), window).await?;
    let up_to = summed_up_to(cx.context.pool()).await?;
    let requests: u64 = seen.points.iter().map(|point| point.requests).sum();
    Ok(html! {
        section.charts aria-labelledby="traffic" {
            div.head {
                h2 #traffic { "Traffic" }
                nav aria-label="Range" {
                    div.ranges {
                        @for other in Range::ALL {
                            a href={ "/dashboard?range=" (other.name()) "#traffic" }
                                aria-current=[(other == range).then_some("true")] { "Last " (other.name()) }
                        }
                    }
                }
                @if let Some(up_to) = up_to { span.faint { "Data until " (moment(up_to)) } }
            }
            @if requests == 0 {
                (empty("No requests in this period", "Requests appear here with a delay of up to one minute.", None))
            } @else {
                (drawn(range, window, &seen))
            }
        }
    })
}

fn drawn(range: Range, window: Window, seen: &Traffic) -> Markup {
    let steps: Vec<String> =
        (0..window.steps).map(|step| range.label(window.start_of(step))).collect();
    let minutes = f64::from(range.minutes_in_a_step());
    let each = |of: fn(&Point) -> Option<f64>| seen.points.iter().map(of).collect::<Vec<_>>();
    let per_minute = |of: fn(&Point) -> f64| {
        seen.points.iter().map(|point| Some(of(point) / minutes)).collect::<Vec<_>>()
    };
    let total: u64 = seen.points.iter().map(|point| point.requests).sum();
    let failed: u64 = seen.points.iter().map(|point| point.failed).sum();
    let worst = seen.points.iter().filter_map(|point| point.p99).fold(0.0, f64::max);
    let requests = Chart {
        id: "requests",
        title: "Requests per minute",
        summary: format!("{} in total, {} refused or failed", sum(total), sum(failed)),
        shape: Shape::Bars,
        is_alone: false,
        steps: &steps,
        series: vec![
            Series {
                name: "Served",
                total: Some(sum(total.saturating_sub(failed))),
                values: per_minute(|point| exact(point.requests.saturating_sub(point.failed))),
            },
            Series {
                name: "Refused or failed",
                total: Some(sum(failed)),
                values: per_minute(|point| exact(point.failed)),
            },
        ],
        write: plain,
    };
    let times = Chart {
        id: "times",
        title: "Response time",
        summary: format!("highest p99: {}", millis(worst)),
        shape: Shape::Lines,
        is_alone: false,
        steps: &steps,
        series: vec![
            Series { name: "p50", total: None, values: each(|point| point.p50) },
            Series { name: "p95", total: None, values: each(|point| point.p95) },
            Series { name: "p99", total: None, values: each(|point| point.p99) },
        ],
        write: millis,
    };
    html! {
        div.columns {
            (requests.render())
            (times.render())
            (errors(&steps, seen))
        }
    }
}

fn errors(steps: &[String], seen: &Traffic) -> Markup {
    if seen.errors.is_empty() {
        return html! {};
    }
    let mut series: Vec<Series<'_>> = seen
        .errors
        .iter()
        .take(CODES)
        .map(|(code, counts)| Series {
            name: code,
            total: Some(sum(counts.iter().sum())),
            values: counts.iter().map(|count| Some(exact(*count))).collect(),
        })
        .collect();
    let rest: Vec<_> = seen.errors.iter().skip(CODES).collect();
    if !rest.is_empty() {
        let of = |step: usize| rest.iter().filter_map(|(_, counts)| counts.get(step)).sum::<u64>();
        series.push(Series {
            name: "Other codes",
            total: Some(sum((0..steps.len()).map(of).sum())),
            values: (0..steps.len()).map(|step| Some(exact(of(step)))).collect(),
        });
    }
    let chart = Chart {
        id: "errors",
        title: "Errors by code",
        summary: format!("most frequent: {}", seen.errors.first().map_or("none", |(code, _)| code)),
        shape: Shape::Bars,
        is_alone: true,
        steps,
        series,
        write: plain,
    };
    chart.render()
}

/// A sum of counts with thousands separators.
fn sum(number: u64) -> String {
    count(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_with_the_current_step() {
        let now: Timestamp = "2026-03-04T05:06:07.891Z".parse().unwrap();
        let window = Range::Day.until(now);
        assert_eq!(window.to().to_string(), "2026-03-04T05:15:00.000Z");
        assert_eq!(window.from.to_string(), "2026-03-03T05:15:00.000Z");
        assert_eq!(Range::Week.label(window.from), "03-03 05:15");
    }
}
