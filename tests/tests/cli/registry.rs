//! `registry`: every kind of list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolwarden_harness::{cli, vectors};

use crate::{Files, call, delete, exit, fails, kinds, list, run, stderr};

fn planned(server: &str, name: &str, exposure: &str, reason: &str, tokens: u64) -> Value {
    let public_name = format!("mcp__{server}__{name}");
    json!({
        "server": server, "name": name, "public_name": public_name, "exposure": exposure, "reason": reason, "tokens": tokens,
    })
}

/// The plan that a run wrote.
fn plan(arguments: &[&str], input: impl AsRef<[u8]>) -> Value {
    let output = run(&[&["registry"], arguments].concat(), input);
    assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
    cli::lines(&output).unwrap().remove(0)
}

/// The estimate of `{"name":"a"}` and the like.
const TOKENS: u64 = 6;

fn plan_of(tools: &[Value]) -> Value {
    let visible = tools.iter().filter(|t| t["exposure"] != "hidden");
    let tokens: u64 = visible.clone().map(|t| t["tokens"].as_u64().unwrap()).sum();
    json!({
        "generation": 1, "tools": tools,
        "totals": { "tools": visible.count(), "tokens": tokens, "deferred": 0, "tokens_saved": 0 },
    })
}

#[test]
fn every_form_of_a_list_is_read() {
    let tools =
        [planned("gh", "a", "eager", "under-budget", TOKENS), planned("gh", "b", "eager", "under-budget", TOKENS)];
    let expected = plan_of(&tools);
    let named = list("gh", &["a", "b"]);
    let mut unnamed = named.clone();
    unnamed.as_object_mut().unwrap().remove("server");
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": unnamed });
    let files = Files::new();
    let file = files.file("list.json", named.to_string());
    let server = ["--server", "gh"];
    assert_eq!(plan(&[], named.to_string()), expected);
    assert_eq!(plan(&["-"], named.to_string()), expected);
    assert_eq!(plan(&[&file], ""), expected);
    assert_eq!(plan(&server, unnamed.to_string()), expected);
    assert_eq!(plan(&server, answer.to_string()), expected);
    assert_eq!(plan(&["--server", "other"], named.to_string()), expected, "a list's own word counts");
    let (a, b) = (list("gh", &["a"]), list("gh", &["b"]));
    assert_eq!(plan(&[], json!([a, b]).to_string()), expected);
    assert_eq!(plan(&[], serde_json::to_string_pretty(&named).unwrap()), expected);
    let files = [files.file("a.json", a.to_string()), files.file("b.json", b.to_string())];
    assert_eq!(plan(&[&files[0], &files[1]], ""), expected);
    assert_eq!(plan(&server, "[]"), plan_of(&[]));
}

/// The name stands beside the list, also where the list stands in an answer.
#[test]
fn a_server_name_beside_the_answer_counts() {
    let answer = json!({ "server": "gh", "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "a" }] } });
    assert_eq!(plan(&[], answer.to_string()), plan_of(&[planned("gh", "a", "eager", "under-budget", TOKENS)]));
}

#[test]
fn a_list_that_is_none_is_refused_as_a_whole() {
    let rows: [(Value, &[&str]); 12] = [
        (json!({ "tools": [] }), &["--server NAME", "no-server-name"]),
        (json!({ "server": null, "tools": [] }), &["--server NAME", "no-server-name"]),
        (json!({ "server": 5, "tools": [] }), &["`server`", "wrong-type"]),
        (json!({ "server": "a b", "tools": [] }), &["`a b`", "1 to 32", "bad-server-name"]),
        (json!({ "server": "gh" }), &["`tools`", "no-tools"]),
        (json!({ "server": "gh", "tools": {} }), &["`tools`", "no-tools"]),
        (
            json!({ "server": "gh", "tools": [{ "name": "a" }, { "title": "b" }] }),
            &["`/tools/1/name`", "bad-tool-name"],
        ),
        (json!({ "server": "gh", "tools": [5] }), &["`/tools/0/name`", "bad-tool-name"]),
        (json!({ "server": "gh", "tools": [{ "name": "" }] }), &["`/tools/0/name`", "empty", "bad-tool-name"]),
        (json!({ "server": "gh", "tools": [{ "name": "x".repeat(1025) }] }), &["1024", "bad-tool-name"]),
        (
            json!({ "server": "gh", "tools": [{ "name": "x", "description": "x".repeat(1 << 20) }] }),
            &["`/tools/0`", "definition-too-large"],
        ),
        (list("gh", &["a", "b", "a"]), &["`gh`", "`a`", "twice", "duplicate-tools"]),
    ];
    let files = Files::new();
    for (list, says) in rows {
        fails(&["registry"], list.to_string(), 1, says);
        let file = files.file("list.json", list.to_string());
        fails(&["registry", &file], "", 1, &[says, &[file.as_str()]].concat()[..says.len()]);
        fails(&["decide", "--tools", &file], delete("a"), 1, says);
    }
    let twice = [
        (r#"{"server":"gh","tools":[{"name":"a","name":"b"}]}"#, "`/tools/0/name`"),
        (r#"{"server":"gh","tools":[],"tools":[]}"#, "`/tools`"),
        (r#"{"server":"gh","tools":[{"name":"a","inputSchema":{"x":1,"x":1}}]}"#, "`/tools/0/inputSchema/x`"),
    ];
    for (text, pointer) in twice {
        fails(&["registry"], text, 1, &[pointer, "duplicate-key"]);
    }
    fails(&["registry"], "", 1, &["not-json"]);
    fails(&["registry"], "{", 1, &["not-json"]);
    fails(&["registry"], "[".repeat(100_000), 1, &["recursion limit"]);
    fails(&["registry"], b"\xff", 1, &["not-utf8"]);
}

#[test]
fn two_servers_with_one_public_name_are_refused() {
    let lists = json!([list("a__b", &["c"]), list("a", &["b__c"])]);
    fails(&["registry"], lists.to_string(), 1, &["`a__b`", "`a`", "`mcp__a__b__c`", "ambiguous-name"]);
    let files = Files::new();
    let first = files.file("1.json", list("gh", &["a"]).to_string());
    let again = files.file("2.json", list("gh", &["b", "a"]).to_string());
    fails(&["registry", &first, &again], "", 1, &["`gh`", "`a`", "duplicate-tools"]);
    fails(&["decide", "--tools", &first, "--tools", &again], "", 1, &["duplicate-tools"]);
}

#[test]
fn an_odd_name_gets_a_plain_public_name() {
    let odd = ["a b", "a\tb", "é", "\u{202e}x", "A", "a", &"x".repeat(1024)];
    let plan = plan(&[], list("gh", &odd).to_string());
    let tools = plan["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, odd);
    let mut public: Vec<&str> = tools.iter().map(|t| t["public_name"].as_str().unwrap()).collect();
    for name in &public {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        assert!(plain && name.len() <= 64 && name.starts_with("mcp__gh__"), "{name:?}");
    }
    public.sort_unstable();
    public.dedup();
    assert_eq!(public.len(), odd.len(), "{public:?}");
}

#[test]
fn a_denied_tool_is_hidden_and_counts_for_nothing() {
    let files = Files::new();
    let rule = |tool: &str| format!("[[rules]]\ntool = '{tool}'\ndecision = 'deny'\n");
    let settings = files.file("s.toml", rule("mcp__gh__b"));
    let tools = [planned("gh", "a", "eager", "under-budget", TOKENS), planned("gh", "b", "hidden", "denied", TOKENS)];
    assert_eq!(plan(&["--settings", &settings], list("gh", &["a", "b"]).to_string()), plan_of(&tools));

    // Of tools that count, one too many; the hidden ones do not count.
    let settings = files.file("s.toml", format!("deferral.maxTools = 2\n{}", rule("mcp__gh__hidden*")));
    let exposures = |names: &[&str]| -> Vec<Value> {
        let plan = plan(&["--settings", &settings], list("gh", names).to_string());
        plan["tools"].as_array().unwrap().iter().map(|t| t["exposure"].clone()).collect()
    };
    assert_eq!(exposures(&["a", "b", "hidden1", "hidden2"]), ["eager", "eager", "hidden", "hidden"]);
    assert_eq!(exposures(&["a", "b", "c", "hidden1"]), ["deferred", "deferred", "deferred", "hidden"]);
}

#[test]
fn without_a_baseline_enforcement_hides_every_servers_tool() {
    let files = Files::new();
    let settings = files.file("s.toml", "mcpSecurity.mode = 'enforce'");
    let tools = [
        planned("gh", "a", "hidden", "snapshot-unavailable", TOKENS),
        planned("gh", "b", "hidden", "snapshot-unavailable", TOKENS),
    ];
    let input = list("gh", &["a", "b"]).to_string();
    assert_eq!(plan(&["--settings", &settings], &input), plan_of(&tools));
    let all = plan(&["--all", "--settings", &settings], &input);
    let hidden = |t: &Value| t["exposure"] == "hidden";
    let (from_servers, own): (Vec<Value>, Vec<Value>) =
        all["tools"].as_array().unwrap().iter().cloned().partition(|t| t["server"] == "gh");
    assert!(from_servers.iter().all(hidden) && !own.iter().any(hidden) && own.len() == 13, "{all}");
}

#[test]
fn totals_are_the_sums_of_what_is_shown() {
    let files = Files::new();
    let settings = files.file("s.toml", "deferral.mode = 'always'\ndeferral.eager = ['mcp__gh__pinned']");
    let schema =
        |about: &str| json!({ "type": "object", "properties": { "q": { "type": "string", "description": about } } });
    let tool = |name: &str, words: usize| json!({ "name": name, "inputSchema": schema(&"word ".repeat(words)) });
    let input = json!({ "server": "gh", "tools": [tool("pinned", 10), tool("a", 300), tool("b", 700)] }).to_string();
    let plan_all = plan(&["--all", "--settings", &settings], &input);
    let plan = plan(&["--settings", &settings], &input);
    let rows = |plan: &Value| plan["tools"].as_array().unwrap().clone();
    let tokens = |t: &Value| t["tokens"].as_u64().unwrap();
    let of_bridge: u64 =
        rows(&plan_all).iter().filter(|t| t["name"].as_str().unwrap().starts_with("tool_")).map(tokens).sum();
    assert!(of_bridge > 0);
    for plan in [&plan, &plan_all] {
        let deferred: Vec<Value> = rows(plan).into_iter().filter(|t| t["exposure"] == "deferred").collect();
        let expected = json!({
            "tools": rows(plan).len(), "tokens": rows(plan).iter().map(tokens).sum::<u64>(), "deferred": 2,
            "tokens_saved": deferred.iter().map(tokens).sum::<u64>() - of_bridge,
        });
        assert_eq!(plan["totals"], expected);
    }
    let reasons: Vec<Value> = rows(&plan).iter().map(|t| t["reason"].clone()).collect();
    assert_eq!(reasons, ["pinned", "always", "always"]);
}

#[test]
fn the_context_window_sets_the_budget() {
    let tool = json!({ "name": "a", "description": "word ".repeat(600) });
    let input = json!({ "server": "gh", "tools": [tool] }).to_string();
    let exposure = |window: &str| plan(&["--context-window", window], &input)["tools"][0]["exposure"].clone();
    assert_eq!([exposure("0"), exposure("1000"), exposure("100000")], ["eager", "deferred", "eager"]);
    assert_eq!(exposure("18446744073709551615"), "eager");
}

#[test]
fn the_order_of_a_list_changes_no_answer() {
    let files = Files::new();
    let settings =
        "deferral.maxTools = 40\ndeferral.defer = ['mcp__*__n7']\n[[rules]]\ntool = 'mcp__*__n9'\ndecision = 'deny'\n";
    let settings = files.file("s.toml", settings);
    let mut tools: Vec<Value> =
        (0..50).map(|n| json!({ "name": format!("n{n}"), "description": "word ".repeat(n) })).collect();
    let sorted = |tools: &[Value]| {
        let plan = plan(&["--settings", &settings], json!({ "server": "gh", "tools": tools }).to_string());
        let mut rows = plan["tools"].as_array().unwrap().clone();
        rows.sort_by_key(|t| t["name"].to_string());
        (plan["totals"].clone(), rows)
    };
    let expected = sorted(&tools);
    tools.reverse();
    assert_eq!(sorted(&tools), expected);
    tools.rotate_left(17);
    tools.swap(3, 40);
    assert_eq!(sorted(&tools), expected);
}

#[test]
fn a_hundred_thousand_tools_are_planned() {
    const COUNT: usize = 100_000;
    let mut input = String::from(r#"{"server":"gh","tools":["#);
    for n in 0..COUNT {
        write!(input, r#"{}{{"name":"t{n}"}}"#, if n == 0 { "" } else { "," }).unwrap();
    }
    input.push_str("]}");
    let plan = plan(&[], &input);
    let tools = plan["tools"].as_array().unwrap();
    assert_eq!(
        (&plan["totals"]["tools"], &plan["totals"]["deferred"], tools.len()),
        (&json!(COUNT), &json!(COUNT), COUNT)
    );
    for n in [0, 255, 256, 257, COUNT - 1] {
        let tokens = tools[n]["tokens"].as_u64().unwrap();
        assert_eq!(tools[n], planned("gh", &format!("t{n}"), "deferred", "over-budget", tokens));
    }
}

#[test]
fn a_list_over_the_limit_is_refused() {
    let files = Files::new();
    let mut text = list("gh", &["a"]).to_string();
    text.push_str(&" ".repeat(64 << 20));
    let file = files.file("list.json", &text);
    fails(&["registry", &file], "", 1, &[&file, "larger than 64 MiB"]);
    fails(&["registry"], &text, 1, &["larger than 64 MiB"]);
    fails(&["explain"], &text, 1, &["larger than 64 MiB"]);
}

#[test]
fn several_lists_make_one_registry() {
    let files = Files::new();
    let gh = files.file("gh.json", list("gh", &["a"]).to_string());
    let jira = files.file("jira.json", json!({ "tools": [{ "name": "a" }] }).to_string());
    let settings = files.file(
        "s.json",
        json!({
            "system": { "toolApprovalMode": "dangerous" }, "deferral": { "mode": "always" },
            "rules": [{ "tool": "mcp__jira__*", "decision": "ask" }],
        })
        .to_string(),
    );
    let bridged = |id: &str, name: &str| {
        let mut record = call(id, "tool_invoke", &json!({ "name": name, "arguments": {} }));
        record["route"] = json!("bridge");
        record
    };
    let mut pair = call("pair", "a", &json!({}));
    pair["server"] = json!("jira");
    let input = [
        call("gh", "mcp__gh__a", &json!({})),
        call("jira", "mcp__jira__a", &json!({})),
        pair,
        bridged("bridged", "mcp__gh__a"),
        bridged("bridged-jira", "mcp__jira__a"),
        bridged("eager", "Bash"),
        bridged("nested", "tool_invoke"),
        bridged("unknown", "mcp__jira__b"),
    ];
    let input: String = input.iter().map(|record| format!("{record}\n")).collect();
    let arguments = ["decide", "--settings", &settings, "--tools", &gh, "--tools", &jira, "--server", "jira"];
    let output = run(&arguments, input);
    let expected = [
        ("allow", ""),
        ("ask", "rule-ask"),
        ("ask", "rule-ask"),
        ("allow", ""),
        ("ask", "rule-ask"),
        ("deny", "call-directly"),
        ("deny", "nested-bridge"),
        ("deny", "unknown-tool"),
    ];
    let expected: Vec<(String, String)> = expected.iter().map(|(v, k)| ((*v).into(), (*k).into())).collect();
    assert_eq!((exit(&output), kinds(&output)), (0, expected), "{}", stderr(&output));
}

/// What real servers answer. The lists are not ours, so they are read where they lie, if they do.
#[test]
fn the_lists_of_real_servers_are_planned() {
    let folder = std::env::var_os("TOOLWARDEN_SHARED_DATA")
        .map_or_else(|| vectors::folder().join("../../shared/data/tool-lists"), PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there; TOOLWARDEN_SHARED_DATA names a folder of tool lists", folder.display());
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    assert!(!paths.is_empty(), "{} holds no list", folder.display());
    for path in paths {
        real_list(&path);
    }
}

fn real_list(path: &Path) {
    let file = path.to_str().unwrap();
    let list: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let names: Vec<&Value> = list["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    let plan = plan(&["--server", "real", file], "");
    let tools = plan["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|t| &t["name"]).collect::<Vec<_>>(), names, "{file}");
    let tokens = |t: &Value| t["tokens"].as_u64().unwrap();
    let sum: u64 = tools.iter().map(tokens).sum();
    assert!(tools.iter().all(|t| tokens(t) > 0), "{file}");
    assert_eq!((&plan["totals"]["tools"], &plan["totals"]["tokens"]), (&json!(names.len()), &json!(sum)), "{file}");
    let over = sum > 12_000 || names.len() > 32;
    let (exposure, reason) = if over { ("deferred", "over-budget") } else { ("eager", "under-budget") };
    assert!(tools.iter().all(|t| t["exposure"] == exposure && t["reason"] == reason), "{file}: {sum} tokens");
}
