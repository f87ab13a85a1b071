//! What differs between two catalogues, tool by tool and field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::canonical::same;
use super::change::{Change, Drift};
use super::exclusion::Exclusions;
use super::grade::Grade;
use super::pointer::{below, leaves};
use super::rename;
use super::schema::{self, Direction};
use super::snapshot::{ServerSnapshot, ToolSnapshot};
use super::text;
use super::unstable::facts;
use crate::call::ServerName;

/// The lists of all servers.
pub type Lists<'l> = BTreeMap<&'l ServerName, &'l ServerSnapshot>;

/// What differs between two catalogues; none where nothing does.
#[must_use]
pub fn diff(old: &Lists, new: &Lists, exclusions: &Exclusions) -> Option<Drift> {
    let names: BTreeSet<&&ServerName> = old.keys().chain(new.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        server(old.get(name).copied(), new.get(name).copied(), exclusions, &mut changes);
    }
    Drift::of(changes)
}

/// What differs at one server; none where nothing does. A server that is not in one of them has come or is gone.
#[must_use]
pub fn diff_server(
    old: Option<&ServerSnapshot>,
    new: Option<&ServerSnapshot>,
    exclusions: &Exclusions,
) -> Option<Drift> {
    let mut changes = Vec::new();
    server(old, new, exclusions, &mut changes);
    Drift::of(changes)
}

fn server(
    old: Option<&ServerSnapshot>,
    new: Option<&ServerSnapshot>,
    exclusions: &Exclusions,
    changes: &mut Vec<Change>,
) {
    let Some(list) = new.or(old) else { return };
    let here = Here { server: list.name().as_str(), tool: None };
    match (old, new) {
        (Some(old), Some(new)) => {
            for (pointer, leaf) in leaves(&facts(old), &facts(new), "") {
                let grade = match pointer.as_str() {
                    "/instructions" => text::grade(leaf.old, leaf.new),
                    // Another program or endpoint under the same name.
                    _ => Grade::Breaking,
                };
                changes.push(here.change(grade, pointer, leaf.old, leaf.new));
            }
        }
        (Some(old), None) => changes.push(here.change(Grade::Removed, String::new(), Some(&facts(old)), None)),
        (None, Some(new)) => changes.push(here.change(Grade::Added, String::new(), None, Some(&facts(new)))),
        (None, None) => {}
    }
    tools(old, new, exclusions, changes);
}

fn tools(
    old: Option<&ServerSnapshot>,
    new: Option<&ServerSnapshot>,
    exclusions: &Exclusions,
    changes: &mut Vec<Change>,
) {
    let is_in = |list: Option<&ServerSnapshot>, name: &str| list.is_some_and(|list| list.tool(name).is_some());
    let Some(server) = new.or(old).map(|list| list.name().as_str()) else { return };
    let mut gone: Vec<&ToolSnapshot> =
        old.into_iter().flat_map(ServerSnapshot::tools).filter(|tool| !is_in(new, tool.name())).collect();
    let mut come: Vec<&ToolSnapshot> =
        new.into_iter().flat_map(ServerSnapshot::tools).filter(|tool| !is_in(old, tool.name())).collect();

    for before in old.into_iter().flat_map(ServerSnapshot::tools) {
        if let Some(after) = new.and_then(|new| new.tool(before.name()))
            && before.digest() != after.digest()
        {
            let here = Here { server, tool: Some(after) };
            let (old, new) = exclusions.settled(server, after.name(), before.definition(), after.definition());
            fields(here, &old, &new, changes);
        }
    }
    for (before, after) in rename::pairs(&gone, &come) {
        gone.retain(|tool| tool.name() != before.name());
        come.retain(|tool| tool.name() != after.name());
        let here = Here { server, tool: Some(after) };
        let (old, new) = (Value::from(before.name()), Value::from(after.name()));
        changes.push(here.change(Grade::Renamed, "/name".into(), Some(&old), Some(&new)));
        fields(here, before.definition(), after.definition(), changes);
    }
    for tool in gone {
        let here = Here { server, tool: Some(tool) };
        changes.push(here.change(Grade::Removed, String::new(), Some(tool.definition()), None));
    }
    for tool in come {
        let here = Here { server, tool: Some(tool) };
        changes.push(here.change(Grade::Added, String::new(), None, Some(tool.definition())));
    }
}

/// Where a change is.
#[derive(Clone, Copy)]
struct Here<'t> {
    server: &'t str,
    tool: Option<&'t ToolSnapshot>,
}

impl Here<'_> {
    fn change(self, grade: Grade, pointer: String, old: Option<&Value>, new: Option<&Value>) -> Change {
        Change {
            grade,
            server: self.server.into(),
            tool: self.tool.map(|tool| tool.name().into()),
            public_name: self.tool.map(|tool| tool.public_name().into()),
            pointer,
            old: old.cloned(),
            new: new.cloned(),
        }
    }
}

/// The fields of one tool. The name is not among them: it is what tools are told apart by.
fn fields(here: Here, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else { return };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).filter(|name| *name != "name").collect();
    for name in names {
        let (old, new) = (before.get(name), after.get(name));
        if matches!((old, new), (Some(old), Some(new)) if same(old, new)) {
            continue;
        }
        let from = changes.len();
        field(here, name, old, new, changes);
        if changes.len() == from {
            changes.push(here.change(Grade::Breaking, below("", name), old, new));
        }
    }
}

fn field(here: Here, name: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let at = below("", name);
    let tool = here.tool.map_or("", ToolSnapshot::name);
    let whole = match (name, old, new) {
        ("description", ..) => text::grade(old, new),
        ("title", ..) => text::title_grade(old, new, &[tool]),
        ("inputSchema", Some(old), Some(new)) => return schemas(here, Direction::Input, &at, old, new, changes),
        ("outputSchema", Some(old), Some(new)) => return schemas(here, Direction::Output, &at, old, new, changes),
        ("outputSchema", None, Some(_)) => Grade::Widened,
        ("inputSchema" | "outputSchema", ..) => Grade::Breaking,
        ("annotations" | "_meta" | "execution", ..) => return members(here, name, &at, old, new, changes),
        ("icons", ..) => Grade::Hint,
        // Nobody knows what it means, and who reads it.
        _ => {
            for (pointer, leaf) in parts(old, new, &at) {
                let is_text = [&leaf.0, &leaf.1].into_iter().flatten().any(text::has_text);
                let grade = if is_text { Grade::Text } else { Grade::Breaking };
                changes.push(here.change(grade, pointer, leaf.0.as_ref(), leaf.1.as_ref()));
            }
            return;
        }
    };
    changes.push(here.change(whole, at, old, new));
}

fn schemas(here: Here, direction: Direction, at: &str, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    let tool = here.tool.map_or("", ToolSnapshot::name);
    for finding in schema::compare(direction, tool, at, old, new) {
        changes.push(here.change(finding.grade, finding.at, finding.old, finding.new));
    }
}

/// Fields whose members are told one by one.
fn members(here: Here, name: &str, at: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let tool = here.tool.map_or("", ToolSnapshot::name);
    for (pointer, (old, new)) in parts(old, new, at) {
        let (old, new) = (old.as_ref(), new.as_ref());
        let says_something = new.is_some_and(text::has_sentence);
        let grade = match (name, pointer.as_str()) {
            ("annotations", "/annotations/title") => text::title_grade(old, new, &[tool]),
            ("execution", "/execution/taskSupport") => task_grade(old, new),
            ("execution", "/execution") => match (old, new) {
                (None, Some(whole)) if is_task_only(whole) => task_grade(None, whole.get("taskSupport")),
                (Some(whole), None) if is_task_only(whole) => task_grade(whole.get("taskSupport"), None),
                _ => Grade::Breaking,
            },
            ("execution", _) => Grade::Breaking,
            _ if says_something => Grade::Text,
            _ => Grade::Hint,
        };
        changes.push(here.change(grade, pointer, old, new));
    }
}

/// A value before and after.
type Sides = (Option<Value>, Option<Value>);

/// Differences within a field, owned. A field that is an object on one side and absent on the other is told member by member,
/// but for an empty one.
fn parts(old: Option<&Value>, new: Option<&Value>, at: &str) -> Vec<(String, Sides)> {
    let empty = Value::Object(serde_json::Map::new());
    let is_full = |value: &Value| value.as_object().is_some_and(|members| !members.is_empty());
    let (one, other) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(old), None) if is_full(old) => (old, &empty),
        (None, Some(new)) if is_full(new) => (&empty, new),
        (old, new) => return vec![(at.to_owned(), (old.cloned(), new.cloned()))],
    };
    leaves(one, other, at).into_iter().map(|(at, leaf)| (at, (leaf.old.cloned(), leaf.new.cloned()))).collect()
}

fn is_task_only(execution: &Value) -> bool {
    execution.as_object().is_some_and(|members| members.keys().all(|key| key == "taskSupport"))
}

/// Whether calls may, must or cannot run as tasks. Nothing at all is `forbidden`. Source: MCP 2025-11-25, tools.
fn task_grade(old: Option<&Value>, new: Option<&Value>) -> Grade {
    let word = |value: Option<&Value>| value.map_or(Some("forbidden"), Value::as_str).map(str::to_owned);
    match (word(old).as_deref(), word(new).as_deref()) {
        (Some("forbidden"), Some("forbidden")) => Grade::Notation,
        (Some("forbidden"), Some("optional")) => Grade::Widened,
        _ => Grade::Breaking,
    }
}
