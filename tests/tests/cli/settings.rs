//! Settings: everything wrong is named.

use crate::{Files, asks, delete, exit, fails, records, run, stderr};

/// Wrong settings end with 2 and say the place, the value and what is allowed. Under right ones nothing is said.
#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn wrong_settings_say_key_value_and_what_is_allowed() {
    let probe =
        |line: &str| format!("[[mcpSecurity.probe]]\nserverName = 'a'\ntransport = 'stdio'\ncommand = 'x'\n{line}\n");
    let sections = ["`system`", "`deferral`", "`rules`", "`approval`", "`mcpSecurity`", "`module`"];
    let rows: Vec<(&str, String, Vec<&str>)> = vec![
        (
            "toml",
            "\n\n[system]\ntoolApprovalMode = 'on'".into(),
            vec!["line 4", "`system.toolApprovalMode`", "`on`", "`off` or `dangerous`"],
        ),
        (
            "toml",
            "[system]\nbashCwdPolicy = 'locked'".into(),
            vec!["line 2", "`system.bashCwdPolicy`", "`locked`", "`unrestricted` or `workspace-only`"],
        ),
        ("toml", "[system]\ntoolApprovalMode = 'Dangerous'".into(), vec!["line 2", "`Dangerous`"]),
        ("toml", "[system]\ntoolApprovalMode = true".into(), vec!["line 2", "`system.toolApprovalMode`"]),
        (
            "toml",
            "[system]\n\ntoolApprovalmode = 'dangerous'".into(),
            vec!["line 3", "`toolApprovalmode`", "`toolApprovalMode` or `bashCwdPolicy`"],
        ),
        ("toml", "[sistem]\nx = 1".into(), [&["line 1", "`sistem`"][..], &sections].concat()),
        ("json", r#"{"sistem":{}}"#.into(), [&["`sistem`"][..], &sections].concat()),
        (
            "json",
            r#"{"system":{"toolApprovalMode":"on"}}"#.into(),
            vec!["`system.toolApprovalMode`", "`on`", "`off` or `dangerous`"],
        ),
        ("json", r#"{"system":null}"#.into(), vec!["`system`", "null"]),
        ("json", r#"{"system":{"bashCwdPolicy":null}}"#.into(), vec!["`system.bashCwdPolicy`", "null"]),
        ("json", "{} x".into(), vec!["trailing"]),
        ("json", String::new(), vec!["EOF"]),
        ("json", format!(r#"{{"rules":{}"#, "[".repeat(100_000)), vec!["recursion limit"]),
        ("toml", format!("a = {}", "[".repeat(100_000)), vec!["line 1"]),
        ("toml", "system".into(), vec!["line 1"]),
        (
            "toml",
            "[system]\nbashCwdPolicy = 'unrestricted'\nbashCwdPolicy = 'workspace-only'".into(),
            vec!["line 3", "duplicate key"],
        ),
        ("toml", "[system]\n[approval]\n[system]".into(), vec!["line 3", "duplicate key"]),
        ("toml", "[[rules]]\ntool = 'a'\ntool = 'b'\ndecision = 'deny'".into(), vec!["line 3", "duplicate key"]),
        (
            "json",
            r#"{"system":{"bashCwdPolicy":"unrestricted","bashCwdPolicy":"workspace-only"}}"#.into(),
            vec!["`/system/bashCwdPolicy`", "twice"],
        ),
        ("json", r#"{"rules":[{"tool":"a","tool":"a","decision":"deny"}]}"#.into(), vec!["`/rules/0/tool`", "twice"]),
        ("toml", "approval.timeoutMs = 0".into(), vec!["line 1", "`approval.timeoutMs`", "`0`", "from 1 to 86400000"]),
        (
            "toml",
            "approval.timeoutMs = 86400001".into(),
            vec!["`approval.timeoutMs`", "`86400001`", "from 1 to 86400000"],
        ),
        ("toml", "approval.timeoutMs = -1".into(), vec!["`approval.timeoutMs`", "`-1`", "from 1 to 86400000"]),
        ("toml", "approval.timeoutMs = 1.5".into(), vec!["`approval.timeoutMs`", "`1.5`"]),
        ("toml", "approval.timeout = 1".into(), vec!["`timeout`", "`timeoutMs`"]),
        ("json", r#"{"approval":{"timeoutMs":86400001}}"#.into(), vec!["`approval.timeoutMs`", "from 1 to 86400000"]),
        ("toml", "module.memoryMiB = 0".into(), vec!["line 1", "`module.memoryMiB`", "`0`", "from 1 to 4096"]),
        ("toml", "module.memoryMiB = 4097".into(), vec!["`module.memoryMiB`", "`4097`", "from 1 to 4096"]),
        ("toml", "module.deadlineMs = 0".into(), vec!["line 1", "`module.deadlineMs`", "`0`", "from 1 to 60000"]),
        ("toml", "module.deadlineMs = 60001".into(), vec!["`module.deadlineMs`", "`60001`", "from 1 to 60000"]),
        ("toml", "module.isolation = 'none'".into(), vec!["`module.isolation`", "`none`", "`pooled` or `per-call`"]),
        ("toml", "module.memoryMib = 16".into(), vec!["`memoryMib`", "`memoryMiB`"]),
        ("toml", "module.allowInertWasi = 1".into(), vec!["line 1", "`module.allowInertWasi`", "`1`", "a boolean"]),
        ("toml", "module.allowInertWASI = true".into(), vec!["`allowInertWASI`", "`allowInertWasi`"]),
        ("toml", probe("timeoutMs = 199"), vec!["line 5", "probe[0].timeoutMs`", "`199`", "from 200 to 60000"]),
        ("toml", probe("timeoutMs = 60001"), vec!["line 5", "probe[0].timeoutMs`", "`60001`", "from 200 to 60000"]),
        ("toml", probe("").replace("stdio", "sse"), vec!["line 3", "`sse`", "`stdio` or `streamable-http`"]),
        ("toml", probe("").replace("'a'", "'a b'"), vec!["line 2", "`a b`", "1 to 32 characters"]),
        ("toml", "mcpSecurity.mode = 'on'".into(), vec!["`mcpSecurity.mode`", "`on`", "`off` or `enforce`"]),
        ("toml", "mcpSecurity.scope = 'servers'".into(), vec!["`mcpSecurity.scope`", "`servers`", "`server`"]),
        ("toml", "mcpSecurity.carryOver = 'hint'".into(), vec!["`mcpSecurity.carryOver`", "`hint`", "`notation`"]),
        ("toml", "mcpSecurity.probeFailOpen = 1".into(), vec!["`mcpSecurity.probeFailOpen`", "`1`"]),
        ("toml", "deferral.mode = 'on'".into(), vec!["/deferral/mode", "`on`", "`auto`, `off` or `always`"]),
        ("toml", "deferral.maxTools = -1".into(), vec!["/deferral/maxTools", "`-1`", "a whole number from 0"]),
        ("toml", "deferral.maxContextShare = 1.1".into(), vec!["/deferral/maxContextShare", "`1.1`", "from 0 to 1"]),
        ("toml", "deferral.maxContextShare = nan".into(), vec!["/deferral/maxContextShare", "from 0 to 1"]),
        ("toml", "deferral.eager = 'x'".into(), vec!["/deferral/eager", "`x`", "a list"]),
        ("toml", "deferral.lazy = 1".into(), vec!["`lazy`", "`maxTokens`"]),
        ("toml", "rules = 5".into(), vec!["/rules", "`5`", "a list of tables"]),
        (
            "toml",
            "[[rules]]\ntool = 'a'\ndecision = 'Deny'".into(),
            vec!["/rules/0/decision", "`Deny`", "`deny`, `ask` or `allow`"],
        ),
        ("toml", "[[rules]]\ndecision = 'deny'".into(), vec!["/rules/0/tool", "missing key `tool`"]),
        ("toml", "[[rules]]\ntool = ''\ndecision = 'deny'".into(), vec!["/rules/0/tool", "not empty"]),
        ("toml", "[module.settings]\nx = 1".into(), vec!["/module/settings/x", "`x`", "no key at all"]),
    ];
    let files = Files::new();
    for (extension, text, says) in rows {
        let name = format!("settings.{extension}");
        let file = files.file(&name, &text);
        fails(&["decide", "--settings", &file], delete("a"), 2, &says);
    }
}

#[test]
fn the_ends_of_every_range_are_allowed() {
    let files = Files::new();
    let probe = "[[mcpSecurity.probe]]\nserverName = 'a'\ntransport = 'stdio'\ncommand = 'x'\ntimeoutMs = ";
    for text in [
        String::new(),
        "# nothing\r\n".into(),
        "\u{feff}[system]\n".into(),
        "approval.timeoutMs = 1".into(),
        "approval.timeoutMs = 86400000".into(),
        "module.memoryMiB = 4096".into(),
        "module.deadlineMs = 60000".into(),
        "module.allowInertWasi = true".into(),
        format!("{probe}200"),
        format!("{probe}60000"),
        "deferral.maxContextShare = 0\ndeferral.maxTokens = 0\ndeferral.maxTools = 0".into(),
        "deferral.maxContextShare = 1.0\ndeferral.maxTokens = 9007199254740991".into(),
    ] {
        let file = files.file("settings.toml", &text);
        let output = run(&["decide", "--profile", "dangerous", "--settings", &file], delete("a"));
        assert_eq!((exit(&output), records(&output)), (0, vec![asks("a")]), "{text}: {}", stderr(&output));
    }
}

#[test]
fn settings_that_are_no_file_are_said() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    for command in ["decide", "explain", "registry"] {
        fails(&[command, "--settings", &folder], "", 2, &[&folder, "regular file"]);
        let missing = files.argument("missing.toml");
        fails(&[command, "--settings", &missing], "", 2, &[&missing]);
    }
    let latin = files.file("latin.toml", b"# caf\xe9\n");
    fails(&["decide", "--settings", &latin], "", 2, &[&latin, "UTF-8"]);
}

/// A list has no names, so it says nothing about settings.
#[test]
fn a_list_is_no_table_of_settings() {
    let files = Files::new();
    for text in [r#"[{"toolApprovalMode":"dangerous"},{},[],{},{},{}]"#, r#"{"system":["dangerous","workspace-only"]}"#]
    {
        let file = files.file("settings.json", text);
        fails(&["decide", "--settings", &file], "", 2, &[]);
    }
}

/// A probe that could not run is a fault of the settings, not of the first call.
#[test]
fn a_probe_says_how_its_server_is_reached() {
    let files = Files::new();
    for rest in ["transport = 'stdio'", "transport = 'streamable-http'"] {
        let file = files.file("settings.toml", format!("[[mcpSecurity.probe]]\nserverName = 'a'\n{rest}\n"));
        let key = if rest.contains("stdio") { "command" } else { "url" };
        fails(&["decide", "--settings", &file], "", 2, &[key]);
    }
}

#[test]
fn the_module_path_of_the_settings_starts_at_their_folder() {
    let files = Files::new();
    std::fs::create_dir(files.path("sub")).unwrap();
    let missing = files.file("missing.toml", "module.path = 'sub/none.wasm'");
    fails(&["decide", "--settings", &missing], "", 3, &["none.wasm", "module-unreadable"]);
    files.file("sub/bad.wasm", b"not a module");
    let bad = files.file("bad.toml", "module.path = 'sub/bad.wasm'");
    fails(&["decide", "--settings", &bad], "", 3, &["module-not-a-component"]);
}
