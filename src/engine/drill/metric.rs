//! The metric of the last successful drill, for the textfile collector of the node exporter.

use formats::clock::Timestamp;

/// The text of the metric after a successful drill.
pub fn metric(finished_at: Timestamp) -> String {
    let seconds = finished_at.as_millis() / 1_000;
    format!(
        "# HELP sealward_drill_last_success_timestamp_seconds The end of the last successful drill of a restore.\n\
         # TYPE sealward_drill_last_success_timestamp_seconds gauge\n\
         sealward_drill_last_success_timestamp_seconds {seconds}\n"
    )
}
