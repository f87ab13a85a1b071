//! All vectors on all faces.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolwarden::call::{DefinitionTrust, Origin, ServerName, ToolRef};
use toolwarden::invoke::Floors;
use toolwarden::module::{Candidacy, ConfigureError, Definition, Policy, PolicyModule, Totals};
use toolwarden::registry::Catalogue;
use toolwarden_harness::native::NativePolicy;
use toolwarden_harness::{cli, component, vectors};

/// The policy of a row's settings, built natively and as the component.
fn policies(settings: &Value) -> [Arc<dyn Policy>; 2] {
    let settings = component::settings(settings).unwrap();
    [
        Arc::new(NativePolicy::new(&settings.policy_json()).unwrap()),
        component::configured(component::embedded().unwrap(), &settings).unwrap(),
    ]
}

/// Fails with all mismatches at once.
fn all_match(mismatches: &[String], rows: usize, least: usize) {
    assert!(mismatches.is_empty(), "{} of {rows} rows:\n{}", mismatches.len(), mismatches.join("\n"));
    assert!(rows >= least, "only {rows} rows");
}

/// Verdicts of the command line on records, keyed by id. One run for each setting and catalogue.
fn by_command_line(groups: BTreeMap<String, Vec<(Value, Value)>>) -> BTreeMap<String, Value> {
    let folder = tempfile::tempdir().unwrap();
    let (settings, tools) = (folder.path().join("settings.json"), folder.path().join("tools.json"));
    let module = component::other_module();
    let mut verdicts = BTreeMap::new();
    for rows in groups.into_values() {
        std::fs::write(&settings, rows[0].0["settings"].to_string()).unwrap();
        let mut arguments = vec!["decide", "--settings", settings.to_str().unwrap()];
        if let Some(module) = &module {
            arguments.extend(["--module", module.to_str().unwrap()]);
        }
        if let Some(catalogue) = rows[0].0.get("catalogue") {
            std::fs::write(&tools, catalogue.to_string()).unwrap();
            arguments.extend(["--tools", tools.to_str().unwrap()]);
        }
        let input: String = rows.iter().map(|(_, record)| format!("{record}\n")).collect();
        let output = cli::run(&arguments, input.as_bytes()).unwrap();
        let lines = cli::lines(&output).unwrap();
        assert_eq!(lines.len(), rows.len(), "{}", String::from_utf8_lossy(&output.stderr));
        for (line, (_, record)) in lines.into_iter().zip(rows) {
            assert_eq!(line["id"], record["id"], "answers come in the order of the calls: {line}");
            verdicts.insert(record["id"].as_str().unwrap().to_owned(), line);
        }
    }
    verdicts
}

/// Runs rows on the native functions, the component and the command line.
fn on_all_faces(rows: &[Value], record: fn(&Value) -> Value) -> Vec<String> {
    let mut mismatches = Vec::new();
    let mut groups: BTreeMap<String, Vec<(Value, Value)>> = BTreeMap::new();
    let mut judged = BTreeMap::new();
    for row in rows {
        let floors = component::settings(&row["settings"]).unwrap().floors;
        let answers = policies(&row["settings"]).map(|policy| {
            let judge = component::judge(policy, vectors::catalogue(row).unwrap(), floors).unwrap();
            component::verdict(&judge, &record(row)).unwrap()
        });
        if answers[0] != answers[1] {
            mismatches.push(format!("{}: native {} but component {}", row["id"], answers[0], answers[1]));
        }
        mismatches.extend(vectors::mismatch(row, &answers[1]));
        let [_, answer] = answers;
        judged.insert(row["id"].as_str().unwrap().to_owned(), answer);
        let key = format!("{} {}", row["settings"], row.get("catalogue").unwrap_or(&Value::Null));
        groups.entry(key).or_default().push((row.clone(), record(row)));
    }
    for (id, mut verdict) in by_command_line(groups) {
        verdict["policy"] = Value::Null;
        if judged[&id] != verdict {
            mismatches.push(format!("{id}: component {} but command line {verdict}", judged[&id]));
        }
    }
    mismatches
}

#[test]
fn cwd_rows_hold_on_every_face() {
    let dangerous = json!({ "system": { "toolApprovalMode": "dangerous" } });
    let rows: Vec<Value> = vectors::rows("cwd")
        .unwrap()
        .into_iter()
        .map(|mut row| {
            let class = row["expect"]["class"].as_str().unwrap();
            let asks = matches!(class, "outside" | "invalid");
            let verdict = if asks { "ask" } else { "allow" };
            let kind = if asks { json!("external-cwd") } else { Value::Null };
            row["expect"] = json!({ "verdict": verdict, "kind": kind, "cwd": row["expect"] });
            row["settings"] = dangerous.clone();
            row
        })
        .collect();
    all_match(&on_all_faces(&rows, vectors::cwd_record), rows.len(), 174);
}

#[test]
fn gate_rows_hold_on_every_face() {
    let rows = vectors::rows("gate").unwrap();
    all_match(&on_all_faces(&rows, vectors::gate_record), rows.len(), 150);
}

/// What no module can let through. The default module does not try to.
#[test]
fn floor_rows_hold_on_every_face() {
    let rows = vectors::rows("floors").unwrap();
    all_match(&on_all_faces(&rows, vectors::gate_record), rows.len(), 35);
}

#[test]
fn settings_rows_hold_on_every_face() {
    let rows = vectors::rows("settings").unwrap();
    let embedded = component::embedded().unwrap();
    let mut mismatches = Vec::new();
    for row in &rows {
        let text = row["settings"].to_string();
        let native: Vec<(String, String)> = toolwarden_policy::Settings::from_json(&text)
            .err()
            .unwrap_or_default()
            .into_iter()
            .map(|i| (i.pointer, i.problem))
            .collect();
        let module = match PolicyModule::new(Arc::clone(&embedded), &text) {
            Ok(_) => Vec::new(),
            Err(ConfigureError::Rejected(issues)) => issues.into_iter().map(|i| (i.pointer, i.problem)).collect(),
            Err(ConfigureError::Fault(fault)) => panic!("{}: {fault}", row["id"]),
        };
        if native != module {
            mismatches.push(format!("{}: native {native:?} but component {module:?}", row["id"]));
        }
        let mut pointers: Vec<&str> = native.iter().map(|(pointer, _)| pointer.as_str()).collect();
        let mut wanted: Vec<&str> =
            row["expect"]["issues"].as_array().into_iter().flatten().map(|i| i["pointer"].as_str().unwrap()).collect();
        pointers.sort_unstable();
        wanted.sort_unstable();
        if pointers != wanted {
            mismatches.push(format!("{} ({}): {native:?} instead of {wanted:?}", row["id"], row["note"]));
        }
        // The host reads the same text first, and what it takes it hands on unchanged. Only its own keys are strange to a module.
        let is_hosts = |pointer: &&str| {
            ["/approval", "/mcpSecurity/carryOver", "/mcpSecurity/probe", "/mcpSecurity/scope", "/module/path"]
                .iter()
                .any(|own| pointer.starts_with(own))
        };
        let expected = pointers.iter().all(is_hosts);
        let host = component::settings(&row["settings"]);
        if host.is_ok_and(|s| PolicyModule::new(Arc::clone(&embedded), &s.policy_json()).is_ok()) != expected {
            mismatches.push(format!("{} ({}): host and module disagree", row["id"], row["note"]));
        }
    }
    all_match(&mismatches, rows.len(), 40);
}

#[test]
fn deferral_rows_hold_on_every_face() {
    let rows = vectors::rows("deferral").unwrap();
    let mut mismatches = Vec::new();
    for row in &rows {
        for policy in policies(&row["settings"]) {
            let plan = plan(&*policy, row);
            if plan != row["expect"] {
                mismatches.push(format!("{} ({}): {plan} instead of {}", row["id"], row["note"], row["expect"]));
            }
        }
    }
    all_match(&mismatches, rows.len(), 60);
}

/// What the model is shown of a row's tools, found as the registry finds it: the gate first, then the batch.
fn plan(policy: &dyn Policy, row: &Value) -> Value {
    let tools: Vec<(ToolRef, u32)> = row["tools"].as_array().unwrap().iter().map(tool).collect();
    let definitions: Vec<Definition> = tools
        .iter()
        .map(|(tool, tokens)| Definition { tool, trust: DefinitionTrust::Matching, tokens: *tokens, definition: "{}" })
        .collect();
    let admissions = policy.admit_tools(&definitions).unwrap();
    let mut totals = Totals {
        bridge_complete: false,
        candidates: 0,
        candidate_tokens: 0,
        context_window: row["contextWindow"].as_u64().unwrap(),
    };
    let mut bridge = 0;
    for ((tool, tokens), admission) in tools.iter().zip(&admissions) {
        if admission.refused.is_none() {
            bridge += usize::from(tool.origin == Origin::Bridge);
            if admission.candidacy == Candidacy::Candidate {
                totals.candidates += 1;
                totals.candidate_tokens += u64::from(*tokens);
            }
        }
    }
    totals.bridge_complete = bridge == 3;
    let deferrals = policy.should_defer_all(&definitions, totals).unwrap();
    admissions
        .iter()
        .zip(deferrals)
        .map(|(admission, deferral)| match &admission.refused {
            Some(_) => json!({ "exposure": "hidden", "reason": "denied" }),
            None => json!({ "exposure": deferral.exposure, "reason": deferral.reason }),
        })
        .collect()
}

fn tool(tool: &Value) -> (ToolRef, u32) {
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let (server, name) = (ServerName::new(&text("server")).ok(), text("name"));
    let origin = match tool["origin"].as_str().unwrap() {
        "core" => Origin::Core,
        "mcp" => Origin::Mcp,
        "plugin" => Origin::Plugin,
        "bridge" => Origin::Bridge,
        other => panic!("{other}"),
    };
    let public_name = match &server {
        Some(server) if origin == Origin::Mcp => toolwarden::call::public_name(server, &name),
        _ => name.clone(),
    };
    (ToolRef { origin, server, name, public_name }, u32::try_from(tool["tokens"].as_u64().unwrap()).unwrap())
}

#[test]
fn the_default_settings_change_nothing() {
    for policy in policies(&json!({})) {
        let judge = component::judge(policy, Catalogue::builtin(), Floors::default()).unwrap();
        let record = json!({
            "id": "x", "tool": "Delete", "arguments": { "path": "/" }, "route": "direct", "attendance": "scheduled",
            "workspace": { "root": "/repo", "flavour": "posix" },
        });
        assert_eq!(component::verdict(&judge, &record).unwrap()["verdict"], "allow");
    }
}
