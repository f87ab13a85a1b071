//! The handle that hosts in other languages hold.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolwarden::embed::{EmbedError, Warden};
use toolwarden_harness::{cli, component, vectors};

fn open(options: &Value) -> Warden {
    Warden::open(options.to_string().as_bytes()).unwrap()
}

fn parsed(answer: Result<String, EmbedError>) -> Value {
    serde_json::from_str(&answer.unwrap()).unwrap()
}

/// A call in a real folder.
fn call(folder: &tempfile::TempDir, tool: &str, arguments: &Value) -> String {
    json!({
        "id": "c", "tool": tool, "arguments": arguments, "route": "direct", "attendance": "interactive",
        "workspace": { "root": folder.path().canonicalize().unwrap(), "flavour": "posix" },
    })
    .to_string()
}

/// Every vector, to the byte as `decide` answers it.
#[test]
fn the_answers_are_those_of_the_command_line_to_the_byte() {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in ["gate", "floors"].into_iter().flat_map(|name| vectors::rows(name).unwrap()) {
        let options = json!({ "settings": row["settings"], "tools": row.get("catalogue") });
        groups.entry(options.to_string()).or_default().push(vectors::gate_record(&row).to_string());
    }
    for row in vectors::rows("cwd").unwrap() {
        let options = json!({ "settings": { "system": { "toolApprovalMode": "dangerous" } } });
        groups.entry(options.to_string()).or_default().push(vectors::cwd_record(&row).to_string());
    }
    assert!(groups.len() > 20, "{}", groups.len());
    let folder = tempfile::tempdir().unwrap();
    let (settings, tools) = (folder.path().join("settings.json"), folder.path().join("tools.json"));
    let module = component::other_module();
    for (text, records) in groups {
        let mut options: Value = serde_json::from_str(&text).unwrap();
        std::fs::write(&settings, options["settings"].to_string()).unwrap();
        let mut arguments = vec!["decide", "--settings", settings.to_str().unwrap()];
        if options["tools"].is_null() {
            options.as_object_mut().unwrap().remove("tools");
        } else {
            std::fs::write(&tools, options["tools"].to_string()).unwrap();
            arguments.extend(["--tools", tools.to_str().unwrap()]);
        }
        if let Some(module) = &module {
            arguments.extend(["--module", module.to_str().unwrap()]);
            options["module"] = json!(module);
        }
        let output = cli::run(&arguments, records.join("\n").as_bytes()).unwrap();
        let expected = String::from_utf8(output.stdout).unwrap();
        let warden = open(&options);
        let answers: String = records.iter().map(|record| warden.decide(record.as_bytes()).unwrap() + "\n").collect();
        assert_eq!(answers, expected, "{text}");
    }
}

#[test]
fn a_call_runs_after_a_yes_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let warden = open(&json!({ "profile": "dangerous" }));
    let delete = call(&folder, "Delete", &json!({ "path": "build", "recursive": true }));

    let asked = parsed(warden.invoke(delete.as_bytes()));
    assert_eq!((&asked["verdict"], &asked["kind"], &asked["run"]), (&json!("ask"), &json!("delete"), &Value::Null));
    let ticket = asked["ticket"].as_str().unwrap();
    // What is no answer leaves the question open.
    for word in ["", "yes", "allow", "Allowed-once", "allowed-once "] {
        assert_eq!(warden.settle(ticket, word).unwrap_err().code, "bad-answer", "{word}");
    }
    let allowed = parsed(warden.settle(ticket, "allowed-once"));
    assert_eq!((&allowed["verdict"], &allowed["kind"]), (&json!("allow"), &Value::Null));
    assert_eq!(
        allowed["run"],
        json!({ "server": null, "tool": "Delete", "arguments": { "path": "build", "recursive": true } })
    );
    for ticket in [ticket, "", "0"] {
        assert_eq!(warden.settle(ticket, "allowed-once").unwrap_err().code, "unknown-ticket");
    }

    let none = json!({ "questions": [] });
    assert_eq!(parsed(warden.questions()), none);
    for (word, kind) in [
        ("rejected", "approval-rejected"),
        ("cancelled", "approval-cancelled"),
        ("timed-out", "approval-timed-out"),
        ("unavailable", "approval-unavailable"),
    ] {
        let asked = parsed(warden.invoke(delete.as_bytes()));
        let question = &parsed(warden.questions())["questions"][0];
        assert_eq!((&question["ticket"], &question["tool"]), (&asked["ticket"], &json!("Delete")));
        let denied = parsed(warden.settle(asked["ticket"].as_str().unwrap(), word));
        assert_eq!((&denied["verdict"], &denied["kind"], &denied["run"]), (&json!("deny"), &json!(kind), &Value::Null));
    }
    let stats = parsed(warden.stats());
    assert_eq!(stats["verdicts"], json!({ "allow": 1, "ask": 5, "deny": 4, "unreadable": 0 }));
    assert_eq!((&stats["pending"], &stats["refusal"]), (&json!(0), &Value::Null));
}

#[test]
fn an_answer_in_time_only_counts_for_what_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwarden.toml");
    std::fs::write(&file, "system.toolApprovalMode = 'dangerous'").unwrap();
    let warden = open(&json!({ "settingsFile": file }));
    let delete = call(&folder, "Delete", &json!({ "path": "build" }));

    // Other settings came meanwhile: the person is asked anew.
    let ticket = |asked: &Value| asked["ticket"].as_str().unwrap().to_owned();
    let first = ticket(&parsed(warden.invoke(delete.as_bytes())));
    std::fs::write(&file, "system.toolApprovalMode = 'dangerous'\napproval.timeoutMs = 1").unwrap();
    assert_eq!(parsed(warden.reload())["swapped"], true);
    let again = parsed(warden.settle(&first, "allowed-once"));
    assert_eq!((&again["verdict"], &again["policy"]["generation"]), (&json!("ask"), &json!(2)));

    // A yes that comes too late is none. The clock must go on for a millisecond.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let late = parsed(warden.settle(&ticket(&again), "allowed-once"));
    assert_eq!((&late["verdict"], &late["kind"]), (&json!("deny"), &json!("approval-timed-out")));

    // Settings that deny it came meanwhile.
    std::fs::write(&file, "system.toolApprovalMode = 'dangerous'").unwrap();
    warden.reload().unwrap();
    let asked = ticket(&parsed(warden.invoke(delete.as_bytes())));
    std::fs::write(&file, "[[rules]]\ntool = 'Delete'\ndecision = 'deny'").unwrap();
    warden.reload().unwrap();
    let denied = parsed(warden.settle(&asked, "allowed-once"));
    assert_eq!((&denied["verdict"], &denied["kind"]), (&json!("deny"), &json!("rule-deny")));

    // What is refused leaves the policy in force.
    std::fs::write(&file, "system.toolApprovalMode = 'none'").unwrap();
    assert_eq!(warden.reload().unwrap_err().code, "settings-invalid");
    assert_eq!(parsed(warden.stats())["refusal"]["code"], "settings-invalid");
    assert_eq!(parsed(warden.rollback())["policy"]["generation"], 5);
}

/// What was judged is what runs, digit for digit.
#[test]
fn numbers_come_out_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let warden = open(&json!({}));
    for number in ["187.24158270135618", "0.1", "-1.7976931348623157e-30", "5e-324", "9007199254740993", "-0.0"] {
        let call = call(&folder, "Read", &json!({ "n": "@" })).replace("\"@\"", number);
        let answer = warden.invoke(call.as_bytes()).unwrap();
        let written = answer.split_once(r#""arguments":{"n":"#).unwrap().1.split('}').next().unwrap().to_owned();
        assert_eq!(written, number, "{answer}");
    }
}

#[test]
fn what_nobody_registered_does_not_run_and_bridge_tools_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let tools = |count: usize| {
        let tool = |i: usize| json!({ "name": format!("tool_{i}"), "description": "finds nothing", "inputSchema": {} });
        json!({ "server": "s", "tools": (0..count).map(tool).collect::<Vec<_>>() })
    };
    let warden = open(&json!({ "settings": { "deferral": { "mode": "always" } }, "tools": tools(3) }));
    let plan = parsed(warden.plan());
    assert_eq!((&plan["totals"]["tools"], &plan["totals"]["deferred"]), (&json!(3), &json!(3)));
    assert!(parsed(warden.listed())["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "tool_search"));

    let search = parsed(warden.invoke(call(&folder, "tool_search", &json!({ "query": "tool_1" })).as_bytes()));
    assert_eq!((&search["verdict"], &search["run"]), (&json!("allow"), &Value::Null));
    assert_eq!(search["result"]["tools"][0]["name"], "mcp__s__tool_1");

    let mut bridged: Value = serde_json::from_str(&call(&folder, "tool_invoke", &json!({}))).unwrap();
    bridged["route"] = "bridge".into();
    bridged["arguments"] = json!({ "name": "mcp__s__tool_1", "arguments": { "a": 1 } });
    let run = &parsed(warden.invoke(bridged.to_string().as_bytes()))["run"];
    assert_eq!(*run, json!({ "server": "s", "tool": "tool_1", "arguments": { "a": 1 } }));

    let none = parsed(warden.invoke(call(&folder, "Nothing", &json!({})).as_bytes()));
    assert_eq!((&none["verdict"], &none["kind"], &none["run"]), (&json!("deny"), &json!("unknown-tool"), &Value::Null));

    // Other tools: what is gone does not run any more.
    let plan = parsed(warden.set_tools(tools(1).to_string().as_bytes()));
    assert_eq!((&plan["generation"], &plan["totals"]["tools"]), (&json!(2), &json!(1)));
    assert_eq!(parsed(warden.invoke(bridged.to_string().as_bytes()))["kind"], "unknown-tool");
    let twice = json!({ "server": "s", "tools": [{ "name": "a" }, { "name": "a" }] });
    assert_eq!(warden.set_tools(twice.to_string().as_bytes()).unwrap_err().code, "duplicate-tools");
    assert_eq!(parsed(warden.plan())["generation"], 2);
}

#[test]
fn wrong_options_and_records_are_errors() {
    let rows: [(&str, &str); 9] = [
        ("[]", "bad-options"),
        ("{", "bad-options"),
        (r#"{"settings":{},"settings":{}}"#, "bad-options"),
        (r#"{"setings":{}}"#, "bad-options"),
        (r#"{"profile":"off"}"#, "bad-options"),
        (r#"{"settings":{},"settingsFile":"x"}"#, "bad-options"),
        (r#"{"settings":{"system":{"toolApprovalMode":"none"}}}"#, "settings-invalid"),
        (r#"{"settingsFile":"/nowhere/at/all"}"#, "settings-invalid"),
        (r#"{"tools":{"server":"s","tools":[{"name":"a"},{"name":"a"}]}}"#, "duplicate-tools"),
    ];
    for (options, code) in rows {
        let error = Warden::open(options.as_bytes()).unwrap_err();
        assert_eq!(error.code, code, "{options}: {error}");
        assert_eq!(serde_json::from_str::<Value>(&error.record()).unwrap()["error"]["code"], code);
    }
    let warden = Warden::open(b"").unwrap();
    for record in ["", "{}", "null", "\u{0}"] {
        assert!(warden.decide(record.as_bytes()).is_err() && warden.invoke(record.as_bytes()).is_err(), "{record:?}");
    }
    assert_eq!(parsed(warden.stats())["verdicts"]["unreadable"], 8);
}

#[test]
fn questions_are_bounded_and_each_is_settled_once_from_many_threads() {
    let folder = tempfile::tempdir().unwrap();
    let warden = Arc::new(open(&json!({ "profile": "dangerous" })));
    let delete = Arc::new(call(&folder, "Delete", &json!({ "path": "build" })));
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (warden, delete) = (Arc::clone(&warden), Arc::clone(&delete));
                scope.spawn(move || (0..300).map(|_| parsed(warden.invoke(delete.as_bytes()))).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let tickets: BTreeSet<&str> = answers.iter().filter_map(|answer| answer["ticket"].as_str()).collect();
    assert_eq!(tickets.len(), 1_000);
    assert!(answers.iter().filter(|a| a["ticket"].is_null()).all(|a| a["kind"] == "approval-unavailable"));
    // All threads answer all of them: each goes once.
    let allowed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (warden, tickets) = (Arc::clone(&warden), &tickets);
                scope.spawn(move || tickets.iter().filter(|t| warden.settle(t, "allowed-once").is_ok()).count())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(allowed, 1_000);
}
