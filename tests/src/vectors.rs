//! Rows of `tests/vectors/*.jsonl`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use toolwarden::registry::{Catalogue, Servers};

/// The folder of the tests.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// All rows of a file, as `cwd`.
///
/// # Errors
///
/// Where the file or a line of it cannot be read.
pub fn rows(name: &str) -> Result<Vec<Value>> {
    let path = folder().join("vectors").join(name).with_extension("jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let row = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
    };
    text.lines().enumerate().map(row).collect()
}

/// The `decide` record of a row of the cwd vectors: a shell that would start there.
#[must_use]
pub fn cwd_record(row: &Value) -> Value {
    let mut arguments = Map::new();
    arguments.insert("command".into(), "ls".into());
    if let Some(cwd) = row.get("cwd") {
        arguments.insert("cwd".into(), cwd.clone());
    }
    let mut record = json!({
        "id": row["id"], "tool": "Bash", "arguments": arguments, "route": "direct", "attendance": "interactive",
        "workspace": row["workspace"],
    });
    if let Some(resolved) = row.get("resolved") {
        record["facts"] = json!({ "resolved": resolved, "resolvedRoot": row["resolvedRoot"] });
    }
    record
}

/// The `decide` record of a row of the gate vectors.
#[must_use]
pub fn gate_record(row: &Value) -> Value {
    let mut record = row["call"].clone();
    record["id"] = row["id"].clone();
    record
}

/// The catalogue of a row of the gate vectors.
///
/// # Errors
///
/// Where the row's list is none.
pub fn catalogue(row: &Value) -> Result<Catalogue> {
    let Some(lists) = row.get("catalogue") else { return Ok(Catalogue::builtin()) };
    Ok(Catalogue::with_servers(Servers::from_json(lists.to_string().as_bytes(), None)?)?)
}

/// What is wrong with a verdict; none where it is as the row expects.
#[must_use]
pub fn mismatch(row: &Value, verdict: &Value) -> Option<String> {
    let expect = &row["expect"];
    let contains = |key: &str, field: &str| {
        let wanted = expect[key].as_array().cloned().unwrap_or_default();
        let text = verdict[field].as_str().unwrap_or_default().to_owned();
        wanted.into_iter().find(|w| !text.contains(w.as_str().unwrap_or("\0")))
    };
    let wrong = ["verdict", "kind", "cwd", "detail"]
        .into_iter()
        .find(|key| expect.get(*key).is_some_and(|wanted| *wanted != verdict[*key]))
        .map(|key| format!("{key}: {} instead of {}", verdict[key], expect[key]))
        .or_else(|| contains("detailContains", "detail").map(|w| format!("detail {} lacks {w}", verdict["detail"])))
        .or_else(|| contains("reasonContains", "reason").map(|w| format!("reason {} lacks {w}", verdict["reason"])))
        .or_else(|| unsafe_text(verdict));
    wrong.map(|wrong| format!("{}: {wrong} ({})", row["id"], row["note"]))
}

/// What holds for every verdict: nothing in it deceives the eye, and the detail is short.
fn unsafe_text(verdict: &Value) -> Option<String> {
    let text = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
    let deceives = |t: &str| t.chars().any(toolwarden_text::is_deceptive);
    if deceives(&text("reason")) || deceives(&text("detail")) {
        return Some("a text holds a control, bidi or invisible character".into());
    }
    (text("detail").chars().count() > toolwarden_text::DETAIL_CHARS + 1).then(|| "the detail is too long".into())
}
