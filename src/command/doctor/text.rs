//! The text form of the report.

use std::fmt::Write as _;

use hsm::{ProbeReport, Probed};

use super::Report;

/// The report on the token called `label`.
pub(super) fn of(label: &str, report: &Report) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = match report {
        Ok(report) => whole(&mut page, report),
        Err(error) => writeln!(page, "Token {label:?} failed: {}\n", error.details()),
    };
    page
}

fn whole(page: &mut String, report: &ProbeReport) -> std::fmt::Result {
    let ProbeReport { module, token, .. } = report;
    writeln!(page, "Token {:?}", token.label)?;
    writeln!(page, "  module    {}", module.path.display())?;
    writeln!(
        page,
        "            {} {} {}, PKCS#11 {}",
        module.manufacturer, module.description, module.version, module.pkcs11_version
    )?;
    writeln!(
        page,
        "  device    {} {}, hardware {}, firmware {}",
        token.manufacturer, token.model, token.hardware_version, token.firmware_version
    )?;
    writeln!(page, "  serial    {}", token.serial)?;
    writeln!(
        page,
        "  login     {}",
        if token.logged_in { "as user" } else { "none: the token requires no login" }
    )?;
    let sessions =
        token.max_sessions.map_or("no limit reported".to_owned(), |most| most.to_string());
    writeln!(page, "  sessions  {sessions}")?;
    writeln!(page, "  flags     {}", token.flags.join(" "))?;
    table(page, "Operations", &report.operations)?;
    table(page, "Import by unwrapping", &report.imports)?;
    writeln!(page, "\n  Operations per second, sequential on one session")?;
    for speed in &report.speeds {
        writeln!(page, "    {:<40} {:>10.0}", speed.operation, speed.per_second)?;
    }
    list(page, "Weaknesses", &report.weaknesses)?;
    list(page, "Cannot work", &report.broken)?;
    writeln!(page)
}

fn table(page: &mut String, title: &str, tried: &[Probed]) -> std::fmt::Result {
    let wide =
        |text: fn(&Probed) -> &str| tried.iter().map(|row| text(row).len()).max().unwrap_or(0);
    let (first, second) = (wide(|row| row.operation), wide(|row| row.algorithm));
    writeln!(page, "\n  {title}")?;
    for row in tried {
        writeln!(page, "    {:<first$}  {:<second$}  {}", row.operation, row.algorithm, row.works)?;
    }
    Ok(())
}

fn list(page: &mut String, title: &str, lines: &[String]) -> std::fmt::Result {
    writeln!(page, "\n  {title}")?;
    if lines.is_empty() {
        return writeln!(page, "    none");
    }
    lines.iter().try_for_each(|line| writeln!(page, "    - {line}"))
}
