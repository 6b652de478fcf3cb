//! Charts as SVG in the colours of the stylesheet, each with a table of its values.

use maud::{Markup, html};

use super::words::count;

/// One line, or one layer of bars: a value for each step.
pub(crate) struct Series<'a> {
    pub(crate) name: &'a str,
    /// The sum of the values, if they have one.
    pub(crate) total: Option<String>,
    pub(crate) values: Vec<Option<f64>>,
}

/// The kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Lines,
    /// Series on top of each other, a bar for each step.
    Bars,
}

/// A chart.
pub(crate) struct Chart<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    /// A text alternative in one sentence.
    pub(crate) summary: String,
    pub(crate) shape: Shape,
    /// Whether it takes a whole row where two fit.
    pub(crate) is_alone: bool,
    /// The name of each step.
    pub(crate) steps: &'a [String],
    pub(crate) series: Vec<Series<'a>>,
    /// The format of a value.
    pub(crate) write: fn(f64) -> String,
}

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 26.0;
/// Colours in the stylesheet.
const COLOURS: usize = 5;

impl Chart<'_> {
    pub(crate) fn render(&self) -> Markup {
        let top = ceiling(self.highest());
        let title = format!("{}-title", self.id);
        html! {
            figure.card.chart.alone[self.is_alone] {
                figcaption {
                    h2 id=(title) { (self.title) }
                    (self.legend())
                }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ (self.title) ": " (self.summary) } {
                    @for line in 0..=4 { (grid(line, top, self.write)) }
                    @for (place, step) in self.steps.iter().enumerate() {
                        @if self.is_named(place) { (self.label(place, step)) }
                    }
                    @match self.shape {
                        Shape::Lines => (self.lines(top)),
                        Shape::Bars => (self.bars(top)),
                    }
                }
                details {
                    summary { "Numbers: " (self.title) }
                    (self.table())
                }
            }
        }
    }

    fn legend(&self) -> Markup {
        html! {
            ul.legend {
                @for (place, series) in self.series.iter().enumerate() {
                    li class=(colour(place)) {
                        svg viewBox="0 0 18 10" aria-hidden="true" {
                            @match self.shape {
                                Shape::Lines => path class={ "stroke " (dash(place)) } d="M1 5H17" {},
                                Shape::Bars => rect.bar x="3" y="0" width="12" height="10" rx="2" {},
                            }
                        }
                        (series.name)
                        @if let Some(total) = &series.total { span.number { (total) } }
                    }
                }
            }
        }
    }

    fn lines(&self, top: f64) -> Markup {
        html! {
            @for (place, series) in self.series.iter().enumerate() {
                g class=(colour(place)) {
                    path class={ "stroke " (dash(place)) } d=(self.path(series, top)) {}
                    @for (step, value) in lone(&series.values) {
                        circle.dot cx=(format!("{:.1}", self.middle(step)))
                            cy=(format!("{:.1}", height(value, top))) r="2.5" {}
                    }
                }
            }
        }
    }

    /// A line with gaps where there is no value.
    fn path(&self, series: &Series<'_>, top: f64) -> String {
        let mut path = String::new();
        let mut is_drawing = false;
        for (step, value) in series.values.iter().enumerate() {
            let Some(value) = value else {
                is_drawing = false;
                continue;
            };
            let (x, y) = (self.middle(step), height(*value, top));
            let draw =
                if is_drawing { format!("L{x:.1} {y:.1}") } else { format!("M{x:.1} {y:.1}") };
            path.push_str(&draw);
            is_drawing = true;
        }
        path
    }

    fn bars(&self, top: f64) -> Markup {
        let width = (self.room() * 0.78).max(1.0);
        html! {
            @for (place, series) in self.series.iter().enumerate() {
                g class=(colour(place)) {
                    @for (step, value) in series.values.iter().enumerate() {
                        @let below = self.below(place, step);
                        @let value = value.unwrap_or_default();
                        @if value > 0.0 {
                            rect.bar x=(format!("{:.1}", self.middle(step) - width / 2.0))
                                y=(format!("{:.1}", height(below + value, top)))
                                width=(format!("{width:.1}"))
                                height=(format!("{:.1}", (height(below, top) - height(below + value, top)).max(1.0))) {}
                        }
                    }
                }
            }
        }
    }

    fn label(&self, place: usize, step: &str) -> Markup {
        html! {
            text x=(format!("{:.1}", self.middle(place))) y=(HEIGHT - 7.0) text-anchor="middle" { (step) }
        }
    }

    fn table(&self) -> Markup {
        html! {
            section.scroll tabindex="0" aria-label={ "Numbers of " (self.title) } {
                table.plain {
                    thead {
                        tr {
                            th scope="col" { "From (UTC)" }
                            @for series in &self.series { th scope="col" { (series.name) } }
                        }
                    }
                    tbody {
                        @for (place, step) in self.steps.iter().enumerate().rev() {
                            tr {
                                td { (step) }
                                @for series in &self.series {
                                    td { @match series.values.get(place).copied().flatten() {
                                        Some(value) => ((self.write)(value)),
                                        None => "–",
                                    } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The sum of the layers below a bar.
    fn below(&self, layer: usize, step: usize) -> f64 {
        let layers = self.series.iter().take(layer);
        layers.filter_map(|series| series.values.get(step).copied().flatten()).sum()
    }

    fn highest(&self) -> f64 {
        let steps = 0..self.steps.len();
        let highest = |step| match self.shape {
            Shape::Bars => self.below(self.series.len(), step),
            Shape::Lines => {
                let values = self
                    .series
                    .iter()
                    .filter_map(|series| series.values.get(step).copied().flatten());
                values.fold(0.0, f64::max)
            }
        };
        steps.map(highest).fold(0.0, f64::max)
    }

    fn room(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / number(self.steps.len().max(1))
    }

    fn middle(&self, step: usize) -> f64 {
        LEFT + self.room() * (number(step) + 0.5)
    }

    /// A chart has room for four labels, away from its ends.
    fn is_named(&self, step: usize) -> bool {
        let apart = (self.steps.len() / 4).max(1);
        step % apart == apart / 2
    }
}

/// A number with at most one decimal.
pub(crate) fn plain(number: f64) -> String {
    if number < 10.0 && number.fract() != 0.0 {
        return format!("{number:.1}");
    }
    let whole = format!("{number:.0}");
    whole.parse().map_or(whole, count)
}

/// Exact for every practical count.
pub(crate) fn exact(count: u64) -> f64 {
    count as f64
}

fn grid(line: u8, top: f64, write: fn(f64) -> String) -> Markup {
    let value = top * f64::from(line) / 4.0;
    let y = height(value, top);
    html! {
        line class=(if line == 0 { "axis" } else { "grid" }) x1=(LEFT) x2=(WIDTH - RIGHT)
            y1=(format!("{y:.1}")) y2=(format!("{y:.1}")) {}
        text x=(LEFT - 8.0) y=(format!("{:.1}", y + 4.0)) text-anchor="end" { @if line == 0 { "0" } @else { (write(value)) } }
    }
}

fn height(value: f64, top: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value / top).clamp(0.0, 1.0)
}

/// The values without neighbours, which a line cannot show.
fn lone(values: &[Option<f64>]) -> Vec<(usize, f64)> {
    let known = |step: Option<usize>| step.and_then(|step| values.get(step).copied().flatten());
    let steps = values.iter().enumerate();
    steps
        .filter_map(|(step, value)| Some((step, (*value)?)))
        .filter(|(step, _)| {
            known(step.checked_sub(1)).is_none() && known(step.checked_add(1)).is_none()
        })
        .collect()
}

/// The next round number that divides well by four.
fn ceiling(highest: f64) -> f64 {
    if highest <= 0.0 {
        return 4.0;
    }
    let unit = 10_f64.powf(highest.log10().floor());
    let steps = [1.0, 2.0, 4.0, 8.0, 10.0];
    let found = steps.into_iter().map(|step| step * unit).find(|top| *top >= highest);
    found.unwrap_or(10.0 * unit)
}

fn colour(place: usize) -> String {
    format!("s{}", place % COLOURS + 1)
}

/// Lines differ by pattern too, not only by colour.
fn dash(place: usize) -> &'static str {
    match place % 3 {
        0 => "dash1",
        1 => "dash2",
        _ => "dash3",
    }
}

/// Exact for every practical number of steps.
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_ends_at_a_round_number() {
        for (highest, top) in
            [(0.0, 4.0), (0.3, 0.4), (1.0, 1.0), (7.0, 8.0), (81.0, 100.0), (1_234.0, 2_000.0)]
        {
            assert!((ceiling(highest) - top).abs() < 1e-9, "{highest}");
        }
    }

    #[test]
    fn numbers_below_ten_have_one_decimal() {
        for (number, expected) in [
            (0.0, "0"),
            (0.25, "0.2"),
            (3.0, "3"),
            (12.6, "13"),
            (1_999.9, "2,000"),
            (250_000.0, "250,000"),
        ] {
            assert_eq!(plain(number), expected);
        }
    }

    #[test]
    fn a_line_has_gaps_at_missing_values() {
        let steps: Vec<String> = (0..3).map(|step| step.to_string()).collect();
        let chart = Chart {
            id: "x",
            title: "X",
            summary: String::new(),
            shape: Shape::Lines,
            is_alone: false,
            steps: &steps,
            series: vec![Series {
                name: "a",
                total: None,
                values: vec![Some(1.0), None, Some(1.0)],
            }],
            write: |value| value.to_string(),
        };
        assert_eq!(chart.path(&chart.series[0], 1.0).matches('M').count(), 2);
        assert_eq!(lone(&[Some(1.0), None, Some(2.0), Some(3.0)]), [(0, 1.0)]);
        assert!(chart.render().into_string().contains("role=\"img\""));
    }
}
