//! The report as a block for an issue.

use std::fmt::Write as _;

use super::{Report, text};
use engine::settings::Settings;

/// The reports on the tokens in Markdown, without data that identifies an installation: labels, serial
/// numbers, folders, keys and addresses.
pub(super) fn block(settings: &Settings, reports: &[(String, Report)]) -> String {
    let mut page = String::from("```text\n");
    // Writing to a string cannot fail.
    let _ = facts(&mut page, settings);
    for (place, (_, report)) in reports.iter().enumerate() {
        let label = format!("hsm.tokens[{place}]");
        page += &match report {
            Ok(report) => {
                let mut report = report.clone();
                report.token.label.clone_from(&label);
                "(not shown)".clone_into(&mut report.token.serial);
                if let Some(file) = report.module.path.file_name() {
                    report.module.path = file.into();
                }
                text::of(&label, &Ok(report))
            }
            // The details name labels and folders.
            Err(error) => format!("Token {label:?} failed: {}\n\n", error.without_names()),
        };
    }
    page + "```\n"
}

fn facts(page: &mut String, settings: &Settings) -> std::fmt::Result {
    let system = rustix::system::uname();
    let hsm = &settings.hsm;
    writeln!(page, "sealward  {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(
        page,
        "system    {} {} {}",
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
        system.machine().to_string_lossy()
    )?;
    writeln!(
        page,
        "settings  environment = {:?}, hsm.workers = {}, hsm.allow_raw_rsa = {}, tokens: {}\n",
        settings.environment,
        hsm.workers,
        hsm.allow_raw_rsa,
        hsm.tokens.len()
    )
}
