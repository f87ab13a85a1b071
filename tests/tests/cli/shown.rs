//! What reaches an eye: nothing that turns or hides what stands around it.

use serde_json::json;

use crate::{DECIDE, Files, deceives, delete, records, run, stderr, stdout};

/// A tool server, or a model, writes a key that turns what stands around it. No message of ours may carry it on.
#[test]
fn no_message_carries_what_deceives() {
    let files = Files::new();
    let key = json!("a\u{202e}b\u{9b}31m\u{1b}[31mc").to_string();
    let twice = format!("{{{key}:1,{key}:2}}");
    let bridged = json!({
        "id": "x", "tool": "tool_invoke", "arguments": { "name": "a", "arguments": "@" }, "route": "bridge",
        "attendance": "interactive", "workspace": { "root": "/repo", "flavour": "posix" },
    });
    let bridged = bridged.to_string().replace("\"@\"", &twice);
    let direct = delete("x").replace(r#"{"path":"/repo/x"}"#, &twice);
    let fact = delete("x").replacen('{', &format!("{{\"facts\":{{\"paths\":{{{key}:1}}}},"), 1);
    let list = format!(r#"{{"server":"gh","tools":[{{"name":"a","inputSchema":{twice}}}]}}"#);
    let word = format!(r#"{{"system":{{"toolApprovalMode":{key}}}}}"#);
    let section = format!("{{{key}:1}}");
    let inner = format!(r#"{{"deferral":{{{key}:1}}}}"#);

    let mut found = Vec::new();
    let mut look = |what: &str, arguments: &[&str], input: &str| {
        let output = run(arguments, input);
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.is_empty(), "{what}");
        if deceives(&said) {
            found.push(format!("{what}: {said:?}"));
        }
    };
    for (what, input) in [("bridged", &bridged), ("direct", &direct), ("fact", &fact)] {
        look(&format!("{what}, decide"), &DECIDE, input);
        look(&format!("{what}, explain"), &["explain"], input);
    }
    look("tool list", &["registry"], &list);
    for (what, text) in
        [("settings word", &word), ("settings key", &section), ("module's key", &inner), ("twice", &twice)]
    {
        look(what, &["decide", "--settings", &files.file("s.json", text)], "");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Keys without end are no reason for messages without end.
#[test]
fn a_message_is_short() {
    let key = "k".repeat(1_000_000);
    let twice = delete("x").replace("\"path\":\"/repo/x\"", &format!("\"{key}\":1,\"{key}\":2"));
    let output = run(&DECIDE, &twice);
    assert_eq!(records(&output)[0]["error"]["code"], "duplicate-key");
    assert!(output.stdout.len() < 2000, "{} bytes", output.stdout.len());
}
