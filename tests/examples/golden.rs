//! The vectors as every face must answer them: `cargo run --release -p toolwarden-harness --example golden`.
//!
//! Prints a line of JSON for each row of `tests/vectors/{gate,cwd,floors}.jsonl`: the `options` that a warden is opened with,
//! the `record` that it is asked about, and as `verdict` the line that `decide` writes, as one string. A face opens a warden,
//! asks, and compares bytes.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use toolwarden::embed::Warden;
use toolwarden_harness::{component, vectors};

fn main() -> Result<()> {
    let dangerous = json!({ "system": { "toolApprovalMode": "dangerous" } });
    let mut out = io::stdout().lock();
    for (file, record) in [
        ("gate", vectors::gate_record as fn(&Value) -> Value),
        ("cwd", vectors::cwd_record),
        ("floors", vectors::gate_record),
    ] {
        for row in vectors::rows(file)? {
            let (options, record) = (options(&row, &dangerous), record(&row));
            let warden = Warden::open(options.to_string().as_bytes()).with_context(|| row["id"].to_string())?;
            let verdict = warden.decide(record.to_string().as_bytes()).with_context(|| row["id"].to_string())?;
            writeln!(out, "{}", json!({ "options": options, "record": record, "verdict": verdict }))?;
        }
    }
    Ok(())
}

/// What a row's warden is opened with. The rows of the cwd vectors have no settings of their own.
fn options(row: &Value, dangerous: &Value) -> Value {
    let mut options = json!({ "settings": row.get("settings").unwrap_or(dangerous) });
    if let Some(tools) = row.get("catalogue") {
        options["tools"] = tools.clone();
    }
    if let Some(module) = component::other_module() {
        options["module"] = json!(module);
    }
    options
}
