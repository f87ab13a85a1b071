//! `explain` says what `decide` says, and why.

use serde_json::json;
use toolwarden_harness::vectors;

use crate::{DECIDE, Files, asks, call, delete, exit, fails, records, run, stdout};

#[test]
fn explain_says_what_decide_says() {
    let input = call("c1", "Bash", &json!({ "command": "ls", "cwd": "/etc" })).to_string();
    let decided = records(&run(&DECIDE, &input)).remove(0);
    let output = run(&["explain", "--profile", "dangerous", "--json"], &input);
    let mut explained = records(&output).remove(0);
    let trail = explained.as_object_mut().unwrap().remove("trail").unwrap();
    assert_eq!((exit(&output), explained), (0, decided.clone()));
    let passed = |rule: &str, note: &str| json!({ "rule": rule, "outcome": "passed-over", "note": note });
    let expected = json!([
        { "rule": "cwd-by-name", "outcome": "passed-over", "note": "the cwd is outside: absolute" },
        passed("rule-deny", "no rule denies the tool"),
        passed("bridge", "no bridge tool"),
        passed("cwd-locked", "no shell, not locked, or the cwd is in the workspace"),
        passed("definition-trust", "not covered by mcpSecurity, or the definition matches its baseline"),
        passed("mcp-call", "not covered by mcpSecurity"),
        passed("rule-ask", "no rule asks about the tool"),
        passed("rule-allow", "no rule allows the tool"),
        passed("mode-off", "toolApprovalMode is dangerous"),
        passed("delete", "not Delete"),
        passed("ssh-mutation", "not SSHManager, or an action that changes nothing"),
        { "rule": "external-cwd", "outcome": "decided", "note": "the shell would start outside the workspace" },
    ]);
    assert_eq!(trail, expected);

    let words = stdout(&run(&["explain", "--profile", "dangerous"], &input));
    let reason = decided["reason"].as_str().unwrap();
    for line in [
        &format!("ask: {reason}"),
        "  tool      Bash",
        "  kind      external-cwd",
        "  target    /etc (outside: absolute)",
        "  rules, in the order in which they were looked at:",
        "   -  rule-deny         no rule denies the tool",
        "   => external-cwd      the shell would start outside the workspace",
    ] {
        assert!(words.lines().any(|l| l == line), "{line:?} is not in\n{words}");
    }
}

/// One row of each kind of gate on both commands.
#[test]
fn explain_and_decide_agree() {
    let rows = vectors::rows("gate").unwrap();
    let files = Files::new();
    for row in rows.iter().step_by(40) {
        let settings = files.file("settings.json", row["settings"].to_string());
        let tools = row.get("catalogue").map(|lists| files.file("tools.json", lists.to_string()));
        let tools: Vec<&str> = tools.iter().flat_map(|t| ["--tools", t]).collect();
        let input = vectors::gate_record(row).to_string();
        let decided = records(&run(&[&["decide", "--settings", &settings][..], &tools].concat(), &input)).remove(0);
        let explain = [&["explain", "--settings", &settings][..], &tools].concat();
        let mut explained = records(&run(&[&explain[..], &["--json"]].concat(), &input)).remove(0);
        explained.as_object_mut().unwrap().remove("trail").unwrap();
        assert_eq!(decided, explained, "{}", row["id"]);
        let words = stdout(&run(&explain, &input));
        let first = format!("{}: {}", decided["verdict"].as_str().unwrap(), decided["reason"].as_str().unwrap());
        assert_eq!(words.lines().next(), Some(first.as_str()), "{}", row["id"]);
    }
}

#[test]
fn explain_takes_one_call_in_any_layout() {
    let pretty = serde_json::to_string_pretty(&call("a", "Delete", &json!({ "path": "/repo/x" }))).unwrap();
    let output = run(&["explain", "--json", "--profile", "dangerous"], &pretty);
    let mut record = records(&output).remove(0);
    record.as_object_mut().unwrap().remove("trail").unwrap();
    assert_eq!((exit(&output), record), (0, asks("a")));
    fails(&["explain"], "", 1, &["not-json"]);
    fails(&["explain"], format!("{0}\n{0}", delete("a")), 1, &["trailing", "not-json"]);
    fails(&["explain"], "5", 1, &["a record is a JSON object", "not-a-record"]);
    fails(&["explain"], delete("a").replace("posix", "mac"), 1, &["workspace.flavour", "`mac`", "bad-field"]);
    fails(&["explain", "--json"], "{", 1, &["not-json"]);
}
