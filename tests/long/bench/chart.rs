//! A bar chart of the CPU time of one request of each operation.

use std::fmt::Write as _;

use crate::cases::{KIB, OPERATIONS};
use crate::measure::{Case, Measured, Subject};
use crate::targets::CPU;

const LEFT: f64 = 170.0;
const WIDTH: f64 = 520.0;
const ROW: f64 = 26.0;
const TOP: f64 = 64.0;

/// One bar.
struct Bar<'a> {
    name: &'a str,
    measured: &'a Measured,
    target: Option<f64>,
}

/// The chart has two groups with separate scales, because token operations take ten times as long.
pub(crate) fn svg(results: &[(Case, Measured)]) -> String {
    let bars = results.iter().filter_map(|(case, measured)| {
        let is_shown = case.bytes == KIB && case.at_once == 16;
        let name = match case.subject {
            Subject::Service(operation) if OPERATIONS.contains(&operation) => operation,
            Subject::Echo => "baseline: echo",
            Subject::Service(_) | Subject::OnKryoptic(_) | Subject::Commit | Subject::Token(_) => {
                return None;
            }
        };
        let target = CPU.iter().find(|(operation, _)| *operation == name);
        is_shown.then_some(Bar { name, measured, target: target.map(|(_, most)| *most) })
    });
    let (token, own): (Vec<_>, Vec<_>) = bars.partition(|bar| uses_the_token(bar.name));
    let rows = token.len() + own.len() + 2;
    let height = TOP + ROW * rows as f64 + 24.0;
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height:.0}" font-family="system-ui, sans-serif" font-size="13">
<style>text {{ fill: #1b2733 }} .axis {{ stroke: #8896a5 }} .service {{ fill: #2f6fb0 }} .postgres {{ fill: #e0902f }} .target {{ stroke: #c0392b; stroke-width: 2 }} .page {{ fill: #fff }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #dfe6ee }} .page {{ fill: #12181f }} }}</style>
<rect class="page" width="760" height="{height:.0}"/>
<text x="16" y="24" font-size="15" font-weight="600">CPU time of one request, µs (16 connections, 1 KiB, HTTP/1.1)</text>
<rect class="service" x="16" y="36" width="12" height="12"/><text x="34" y="47">service</text>
<rect class="postgres" x="104" y="36" width="12" height="12"/><text x="122" y="47">Postgres</text>
<line class="target" x1="200" x2="200" y1="35" y2="49"/><text x="208" y="47">target</text>
"#
    );
    let next = group(&mut out, &own, TOP, "in the process");
    group(&mut out, &token, next, "in the token");
    out.push_str("</svg>\n");
    out
}

/// Draws one group with its own scale, and returns the position of the next group.
fn group(out: &mut String, bars: &[Bar<'_>], top: f64, title: &str) -> f64 {
    let longest = bars.iter().map(|bar| bar.measured.cpu().max(bar.target.unwrap_or(0.0)));
    let scale = (WIDTH - 60.0) / longest.fold(1.0, f64::max);
    let mut draw = |text: String| writeln!(out, "{text}").expect("memory");
    draw(format!(r#"<text x="16" y="{:.0}" font-weight="600">{title}</text>"#, top + 17.0));
    for (row, bar) in bars.iter().enumerate() {
        let y = top + ROW * (row as f64 + 1.0);
        let (service, postgres) = (bar.measured.service * scale, bar.measured.postgres * scale);
        draw(format!(
            r#"<text x="{:.0}" y="{:.0}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            y + 15.0,
            bar.name
        ));
        draw(format!(
            r#"<rect class="service" x="{LEFT}" y="{:.0}" width="{service:.1}" height="16"/>"#,
            y + 2.0
        ));
        draw(format!(
            r#"<rect class="postgres" x="{:.1}" y="{:.0}" width="{postgres:.1}" height="16"/>"#,
            LEFT + service,
            y + 2.0
        ));
        let end = LEFT + (service + postgres).max(bar.target.unwrap_or(0.0) * scale);
        draw(format!(
            r#"<text x="{:.1}" y="{:.0}">{:.0}</text>"#,
            end + 6.0,
            y + 15.0,
            bar.measured.cpu()
        ));
        if let Some(target) = bar.target {
            let x = LEFT + target * scale;
            draw(format!(
                r#"<line class="target" x1="{x:.1}" x2="{x:.1}" y1="{y:.0}" y2="{:.0}"/>"#,
                y + 20.0
            ));
        }
    }
    top + ROW * (bars.len() as f64 + 1.0)
}

/// Whether the token performs this operation.
fn uses_the_token(operation: &str) -> bool {
    let words = ["unprotect", "encrypt", "decrypt", "sign"];
    OPERATIONS.contains(&operation) && words.iter().any(|word| operation.starts_with(word))
}
