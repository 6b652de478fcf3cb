//! `sealward change`: lists, shows and decides changes that need approval, over the API.
//!
//! A decision needs a person, so these commands use the credential of one. The database of the machine
//! cannot prove who uses it.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::{Map, Value, json};

use super::Failure;
use super::client::{ApiAccess, Client};
use engine::change_kind::ChangeKind;
use engine::ids::ChangeId;
use engine::management::changes::ChangeStatus;

/// The place of changes in the API.
const CHANGES: &str = "/admin/changes";

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List changes that need or needed approval.
    List(ListChanges),
    /// Show a change: its proposer, its decisions, and the resource before and after it.
    Show(Show),
    /// Approve a change as the person of the credential. The last approval makes the change.
    Approve(Decide),
    /// Reject a change as the person of the credential.
    Reject(Decide),
}

#[derive(Debug, clap::Args)]
struct ListChanges {
    #[command(flatten)]
    connection: ApiAccess,
    /// Only changes with this status: pending, applied, rejected, withdrawn, expired or stale.
    #[arg(long)]
    status: Option<ChangeStatus>,
    /// Only changes of this kind, for example key.import.
    #[arg(long, value_name = "KIND")]
    action: Option<ChangeKind>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The ID of the change.
    id: ChangeId,
    #[command(flatten)]
    connection: ApiAccess,
    /// Print the change as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Decide {
    /// The ID of the change.
    id: ChangeId,
    #[command(flatten)]
    connection: ApiAccess,
    /// The reason, for other people.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Print the change as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let work = move || match arguments.action {
        Command::List(wanted) => list(&wanted),
        Command::Show(wanted) => show(&wanted),
        Command::Approve(wanted) => decide(&wanted, "approve"),
        Command::Reject(wanted) => decide(&wanted, "reject"),
    };
    // The client waits for the network: not on a thread that others wait for.
    tokio::task::spawn_blocking(work).await.map_err(|error| Failure::Other(error.to_string()))?
}

fn list(wanted: &ListChanges) -> Result<(), Failure> {
    let client = Client::new(&wanted.connection)?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", "200");
    if let Some(status) = wanted.status {
        query.append_pair("status", status.name());
    }
    if let Some(action) = wanted.action {
        query.append_pair("action", action.name());
    }
    let query = query.finish();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{CHANGES}?{query}{cursor}"))?;
        for change in page.get("items").and_then(Value::as_array).into_iter().flatten() {
            let line = if wanted.json { change.to_string() } else { line(change) };
            writeln!(io::stdout(), "{line}")?;
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(()),
        }
    }
}

fn show(wanted: &Show) -> Result<(), Failure> {
    let client = Client::new(&wanted.connection)?;
    let change = client.get(&format!("{CHANGES}/{}", wanted.id))?;
    print(&change, wanted.json, &page(&change))
}

fn decide(wanted: &Decide, decision: &str) -> Result<(), Failure> {
    let client = Client::new(&wanted.connection)?;
    let path = format!("{CHANGES}/{}/{decision}", wanted.id);
    let change = client.post(&path, &json!({ "comment": wanted.comment }))?;
    print(&change, wanted.json, &format!("{}\n", line(&change)))
}

fn print(change: &Value, json: bool, text: &str) -> Result<(), Failure> {
    let mut out = io::stdout();
    if json {
        return Ok(writeln!(out, "{change:#}")?);
    }
    Ok(out.write_all(text.as_bytes())?)
}

/// The ID, the status, the number of approvals, the author and the summary.
fn line(change: &Value) -> String {
    let (id, status) = (text(change, "/id"), text(change, "/status"));
    let (author, summary) = (author(change), text(change, "/summary"));
    let approvals = approvals(change);
    format!("{id}  {status:<9}  {approvals}  {author}  {summary}")
}

/// A page about one change.
fn page(change: &Value) -> String {
    let kinds: Vec<&str> = array(change, "/action").filter_map(Value::as_str).collect();
    let mut page = String::new();
    for (name, value) in [
        ("Change", text(change, "/id").to_owned()),
        ("Summary", text(change, "/summary").to_owned()),
        ("Kind", kinds.join(" ")),
        ("Status", text(change, "/status").to_owned()),
        ("Proposed by", author(change)),
        ("Proposed", text(change, "/proposedAt").to_owned()),
        ("Expires", text(change, "/expiresAt").to_owned()),
        ("Approvals", approvals(change)),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{name:<12} {value}");
    }
    for approval in array(change, "/approvals") {
        let _ = writeln!(page, "{:<12} {}", "Approved by", decision(approval));
    }
    if let Some(rejection) = change.get("rejection").filter(|it| it.is_object()) {
        let _ = writeln!(page, "{:<12} {}", "Rejected by", decision(rejection));
    }
    for (name, before, after) in differences(change) {
        let _ = writeln!(page, "{name}: {before} -> {after}");
    }
    page
}

/// The members that the change sets, with their values before and after it. The values are in JSON, so
/// that no control character reaches the terminal.
fn differences(change: &Value) -> Vec<(String, String, String)> {
    let none = Map::new();
    let members = |name: &str| change.get(name).and_then(Value::as_object).unwrap_or(&none);
    let (before, after) = (members("before"), members("after"));
    let shown = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), Value::to_string);
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    names
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| (name.clone(), shown(before.get(name)), shown(after.get(name))))
        .collect()
}

/// The person, the time and the comment of a decision.
fn decision(decision: &Value) -> String {
    let (person, at) = (text(decision, "/person"), text(decision, "/at"));
    match decision.get("comment") {
        None | Some(Value::Null) => format!("{person} at {at}"),
        Some(comment) => format!("{person} at {at}: {comment}"),
    }
}

fn author(change: &Value) -> String {
    let name = text(change, "/proposedBy/name");
    match change.pointer("/proposedBy/person").and_then(Value::as_str) {
        Some(person) => format!("{person} ({name})"),
        None => format!("no person ({name})"),
    }
}

fn approvals(change: &Value) -> String {
    let required = change.get("required").and_then(Value::as_u64);
    let given = array(change, "/approvals").count();
    format!("{given} of {}", required.unwrap_or_default())
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn array<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_decisions_and_changed_members() {
        let change = json!({
            "id": "chg_1", "summary": "Change the policy “p”", "action": ["policy.open"],
            "status": "pending", "required": 2,
            "proposedBy": { "person": "ada", "name": "laptop" },
            "proposedAt": "2030-01-01T00:00:00.000Z", "expiresAt": "2030-01-04T00:00:00.000Z",
            "approvals": [{ "person": "bob", "at": "2030-01-02T00:00:00.000Z", "comment": "ok\n" }],
            "rejection": null,
            "before": { "name": "p", "requireBinding": true },
            "after": { "name": "p", "requireBinding": false, "updatedAt": "2030" },
        });
        let expected = "\
Change       chg_1
Summary      Change the policy “p”
Kind         policy.open
Status       pending
Proposed by  ada (laptop)
Proposed     2030-01-01T00:00:00.000Z
Expires      2030-01-04T00:00:00.000Z
Approvals    1 of 2
Approved by  bob at 2030-01-02T00:00:00.000Z: \"ok\\n\"
requireBinding: true -> false
updatedAt: none -> \"2030\"
";
        assert_eq!(page(&change), expected);
        let line = line(&change);
        assert_eq!(line, "chg_1  pending    1 of 2  ada (laptop)  Change the policy “p”");
    }
}
