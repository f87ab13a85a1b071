//! What each change means, as data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolwarden::baseline::{Drift, Exclusions, Identity, ServerSnapshot, Survey, diff};
use toolwarden::call::ServerName;

const VECTORS: &str = include_str!("../../vectors/grades.jsonl");

fn survey(server: &Value) -> Survey {
    if server.is_null() {
        return Survey::default();
    }
    let name = ServerName::new("security_demo").expect("a name");
    let identity = server.get("identity").cloned().unwrap_or_else(|| json!({ "transport": "stdio" }));
    let instructions = server.get("instructions").and_then(Value::as_str).map(str::to_owned);
    let tools = server.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    let list = ServerSnapshot::new(name.clone(), Identity::new(identity), instructions, tools);
    Survey::new([(name, Ok(list.expect("a list")))])
}

/// The two servers that a vector is about.
fn sides(vector: &Value) -> [Value; 2] {
    [0, 1].map(|side| {
        let named = |mut tool: Value| {
            tool["name"] = json!("echo");
            json!({ "tools": [tool] })
        };
        match vector {
            v if v.get("tool").is_some() => named(v["tool"][side].clone()),
            v if v.get("input").is_some() => named(json!({ "inputSchema": v["input"][side] })),
            v if v.get("output").is_some() => {
                named(json!({ "inputSchema": { "type": "object" }, "outputSchema": v["output"][side] }))
            }
            v if v.get("tools").is_some() => json!({ "tools": v["tools"][side] }),
            v => v["server"][side].clone(),
        }
    })
}

fn found(drift: Option<&Drift>, with_tools: bool) -> Vec<Value> {
    let changes = drift.map(|drift| drift.changes().to_vec()).unwrap_or_default();
    let rows = changes.into_iter().map(|change| match change.tool.filter(|_| with_tools) {
        Some(tool) => json!({ "tool": tool, "grade": change.grade, "pointer": change.pointer }),
        None => json!({ "grade": change.grade, "pointer": change.pointer }),
    });
    rows.collect()
}

/// In one order, each with its keys in one order.
fn sorted(rows: &[Value]) -> Vec<String> {
    let row = |row: &Value| json!(row.as_object().into_iter().flatten().collect::<BTreeMap<_, _>>()).to_string();
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn every_change_is_graded_by_what_it_means() {
    let mut ids = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in VECTORS.lines() {
        let vector: Value = serde_json::from_str(line).expect("a vector");
        let id = vector["id"].as_str().expect("an id").to_owned();
        let [old, new] = sides(&vector);
        let (one, other) = (survey(&old), survey(&new));
        let none = Exclusions::default();
        let drift = diff(&one.lists().expect("lists"), &other.lists().expect("lists"), &none);
        let expected = sorted(vector["expect"].as_array().expect("expectations"));
        let got = sorted(&found(drift.as_ref(), vector.get("tools").is_some()));
        if got != expected {
            wrong.push(format!("{id} {}\n  expected {expected:?}\n  found    {got:?}", vector["note"]));
        }
        assert_eq!(drift.is_none(), one.fingerprint(&none) == other.fingerprint(&none), "{id}");
        assert!(ids.insert(id.clone()), "{id} twice");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ids.len() > 150);
}
