//! The command line from outside: exit codes, messages, hostile input, and what is left in place when something fails.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use toolwarden_harness::{cli, vectors};

// ---------------------------------------------------------------- helpers

/// A folder with files, gone after the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and tells its path as an argument.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.argument(name)
    }

    fn argument(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    cli::run(arguments, input.as_ref()).unwrap()
}

fn exit(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("no exit code: {}", stderr(output)))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The records of a run, the name of the policy left out.
fn records(output: &Output) -> Vec<Value> {
    let mut records = cli::lines(output).unwrap();
    for record in &mut records {
        if let Some(fields) = record.as_object_mut()
            && let Some(policy) = fields.remove("policy")
        {
            assert_eq!((&policy["name"], &policy["generation"]), (&json!("toolwarden-default"), &json!(1)));
        }
    }
    records
}

/// Nothing but this exit code, nothing on standard output, and one error on standard error that says all of this.
fn fails(arguments: &[&str], input: impl AsRef<[u8]>, code: i32, says: &[&str]) {
    let output = run(arguments, input);
    let text = stderr(&output);
    assert_eq!((exit(&output), stdout(&output).as_str()), (code, ""), "{arguments:?}: {text}");
    assert!(text.starts_with("error: ") && !text.contains("panicked"), "{arguments:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{arguments:?} does not say {part:?}: {text}");
    }
}

fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({
        "id": id, "tool": tool, "arguments": arguments, "route": "direct", "attendance": "interactive",
        "workspace": { "root": "/repo", "flavour": "posix" },
    })
}

fn delete(id: &str) -> String {
    call(id, "Delete", &json!({ "path": "/repo/x" })).to_string()
}

/// What `--profile dangerous` says of [`delete`].
fn asks(id: &str) -> Value {
    json!({
        "id": id, "verdict": "ask", "kind": "delete", "cwd": null,
        "reason": "this deletes recursively: a file, or a folder and everything in it",
        "detail": "/repo/x (a folder goes with everything in it)",
    })
}

fn free(id: &str, cwd: &Value) -> Value {
    json!({
        "id": id, "verdict": "allow", "kind": null, "cwd": cwd, "reason": "nothing speaks against it", "detail": "",
    })
}

fn refused(line: u64, code: &str, message: &str) -> Value {
    json!({ "line": line, "error": { "code": code, "message": message } })
}

const DECIDE: [&str; 3] = ["decide", "--profile", "dangerous"];

/// Verdict and kind of each record.
fn kinds(output: &Output) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    records(output).iter().map(|r| (text(&r["verdict"]), text(&r["kind"]))).collect()
}

/// Whether a text that goes to a terminal could turn or hide what stands around it.
fn deceives(text: &str) -> bool {
    text.chars().any(|c| c != '\n' && toolwarden_text::is_deceptive(c))
}

// ---------------------------------------------------------------- decide: lines

#[test]
fn a_line_of_ten_megabytes_is_answered() {
    let long = "x".repeat(10_000_000);
    let lines = [
        call("free", "Bash", &json!({ "command": long })),
        call("asks", "Delete", &json!({ "path": "/repo/x", "note": long })),
        call("cut", "Delete", &json!({ "path": long })),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = run(&DECIDE, input);
    let note = " (a folder goes with everything in it)";
    let mut cut = asks("cut");
    cut["detail"] = json!("x".repeat(toolwarden_text::DETAIL_CHARS - note.len()) + "…" + note);
    assert_eq!(records(&output), [free("free", &json!({ "class": "inside" })), asks("asks"), cut]);
    assert_eq!(exit(&output), 0);
}

#[test]
fn a_line_over_the_limit_is_an_error_and_later_lines_are_answered() {
    const LIMIT: usize = 32 << 20;
    let mut input = Vec::with_capacity(2 * LIMIT + 1000);
    let line = |input: &mut Vec<u8>, text: &str| {
        input.extend_from_slice(text.as_bytes());
        input.push(b'\n');
    };
    line(&mut input, &delete("a"));
    input.resize(input.len() + LIMIT + 1, b'x');
    line(&mut input, "");
    line(&mut input, &delete("b"));
    input.resize(input.len() + LIMIT + 1, b' ');
    let output = run(&DECIDE, input);
    let too_long = |number| refused(number, "line-too-long", "the line is longer than 32 MiB");
    assert_eq!(records(&output), [asks("a"), too_long(2), asks("b"), too_long(4)]);
    assert_eq!(exit(&output), 1);
}

#[test]
fn no_call_is_no_answer() {
    let files = Files::new();
    for content in ["", "\n", "\r\n\r\n", " \t \n\n"] {
        let file = files.file("calls.jsonl", content);
        for output in [run(&DECIDE, content), run(&["decide", &file], "")] {
            let said = (exit(&output), stdout(&output), stderr(&output));
            assert_eq!(said, (0, String::new(), String::new()), "{content:?}");
        }
    }
}

#[test]
fn blank_lines_and_every_line_end_are_passed_over_and_counted() {
    let (a, b, c) = (delete("a"), delete("b"), delete("c"));
    let output = run(&DECIDE, format!("\n  \n{a}\r\n\r\n\t\n{b}\n5\n{c}"));
    assert_eq!(
        records(&output),
        [asks("a"), asks("b"), refused(7, "not-a-record", "a record is a JSON object"), asks("c")]
    );
    assert_eq!(exit(&output), 1);
}

#[test]
fn a_file_a_dash_and_nothing_are_the_same() {
    let files = Files::new();
    let (a, b) = (delete("a"), delete("b"));
    let text = format!("{a}\n{b}\n");
    let file = files.file("calls.jsonl", &text);
    for (last, input) in [(&[file.as_str()][..], ""), (&["-"], text.as_str()), (&[], text.as_str())] {
        let output = run(&[&DECIDE, last].concat(), input);
        assert_eq!((exit(&output), records(&output)), (0, vec![asks("a"), asks("b")]));
    }
}

/// Each row is a line that cannot be read, its code, and what the message says. Every other line is answered, in order.
#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn what_cannot_be_read_is_said_and_the_rest_is_answered() {
    let with = |key: &str, value: Value| {
        let mut record = call("x", "Delete", &json!({ "path": "/repo/x" }));
        record[key] = value;
        record.to_string().into_bytes()
    };
    let without = |key: &str| {
        let mut record = call("x", "Delete", &json!({ "path": "/repo/x" }));
        record.as_object_mut().unwrap().remove(key).unwrap();
        record.to_string().into_bytes()
    };
    let arguments = |text: &str| delete("x").replace(r#"{"path":"/repo/x"}"#, text).into_bytes();
    let workspace = |value: Value| with("workspace", value);
    let nested = |open: &str, close: &str| {
        arguments(&format!(r#"{{"path":{}{}}}"#, open.repeat(100_000), close.repeat(100_000)))
    };
    let swap = |from: &str, to: &str| delete("x").replacen(from, to, 1).into_bytes();
    let rows: Vec<(Vec<u8>, &str, &str)> = vec![
        (b"{".to_vec(), "not-json", "EOF"),
        (b"nonsense".to_vec(), "not-json", "expected"),
        (b"null".to_vec(), "not-a-record", "object"),
        (b"[]".to_vec(), "not-a-record", "object"),
        (b"\"text\"".to_vec(), "not-a-record", "object"),
        ([b"\xef\xbb\xbf", delete("x").as_bytes()].concat(), "not-json", "byte order mark"),
        ([delete("x").as_bytes(), b" x"].concat(), "not-json", "trailing"),
        ([delete("x").as_bytes(), delete("y").as_bytes()].concat(), "not-json", "trailing"),
        (b"\0".to_vec(), "not-json", "expected"),
        (b"{\"id\":\"\xff\"}".to_vec(), "not-utf8", "after byte 7"),
        (b"{\"id\":\"\xed\xa0\x80\"}".to_vec(), "not-utf8", "after byte 7"),
        (b"{\"id\":\"\xc0\xaf\"}".to_vec(), "not-utf8", "after byte 7"),
        (arguments(r#"{"path":"\ud800"}"#), "not-json", "hex escape"),
        (arguments(r#"{"path":"\udc00x"}"#), "not-json", "surrogate"),
        (arguments("{\"path\":\"a\0b\"}"), "not-json", "control character"),
        (arguments(r#"{"path":NaN}"#), "not-json", "expected"),
        (nested("[", "]"), "not-json", "recursion limit"),
        (nested(r#"{"a":"#, "}"), "not-json", ""),
        (nested("[", ""), "not-json", "recursion limit"),
        (arguments(r#"{"path":"a","path":"b"}"#), "duplicate-key", "`/arguments/path`"),
        (arguments(r#"{"path":"a","p\u0061th":"a"}"#), "duplicate-key", "`/arguments/path`"),
        (arguments(r#"{"path":[[{"a":{"b~/":1,"b~/":1}}]]}"#), "duplicate-key", "`/arguments/path/0/0/a/b~0~1`"),
        (swap(r#""id":"x""#, r#""id":"x","id":"y""#), "duplicate-key", "`/id`"),
        (swap(r#""route""#, r#""arguments":{},"route""#), "duplicate-key", "`/arguments`"),
        (swap(r#""flavour""#, r#""root":"/","flavour""#), "duplicate-key", "`/workspace/root`"),
        (arguments(r#"{"path":"a","n":9007199254740993.0}"#), "number-out-of-range", "`/arguments/n`"),
        (arguments(r#"{"path":"a","n":18446744073709551616}"#), "number-out-of-range", "`/arguments/n`"),
        (arguments(r#"{"path":"a","n":[-9223372036854775809]}"#), "number-out-of-range", "`/arguments/n/0`"),
        (arguments(r#"{"path":"a","n":1e300}"#), "number-out-of-range", "`/arguments/n`"),
        (arguments(r#"{"path":"a","n":1e999}"#), "not-json", "number out of range"),
        (with("Attendance", json!("interactive")), "unknown-field", "`Attendance`"),
        (with("extra", Value::Null), "unknown-field", "`extra`"),
        (with("a\u{1b}\u{202e}", json!(1)), "unknown-field", "`a\\u{1b}\\u{202e}`"),
        (without("attendance"), "missing-field", "`attendance`"),
        (without("workspace"), "missing-field", "`workspace`"),
        (without("route"), "missing-field", "`route`"),
        (without("id"), "missing-field", "`id`"),
        (without("tool"), "missing-field", "`tool`"),
        (workspace(json!({ "root": "/repo" })), "bad-field", "`flavour`"),
        (workspace(json!({ "flavour": "posix" })), "bad-field", "`root`"),
        (workspace(json!({ "root": 5, "flavour": "posix" })), "bad-field", "`workspace.root`"),
        (workspace(json!({ "root": "/", "flavour": "linux" })), "bad-field", "expected `windows` or `posix`"),
        (workspace(json!({ "root": "/", "flavour": "posix", "roots": [] })), "bad-field", "`roots`"),
        (workspace(json!({ "root": "/", "flavour": "posix", "skills": [1] })), "bad-field", "`workspace.skills[0]`"),
        (workspace(json!("/repo")), "bad-field", "`workspace`"),
        (workspace(Value::Null), "bad-field", "`workspace`"),
        (with("id", json!(1)), "wrong-type", "`id`"),
        (with("id", Value::Null), "wrong-type", "`id`"),
        (with("id", json!("x".repeat(1025))), "too-long", "`id`"),
        (with("tool", json!(["Delete"])), "wrong-type", "`tool`"),
        (with("tool", json!("x".repeat(1025))), "too-long", "1024"),
        (with("server", json!(5)), "wrong-type", "`server`"),
        (with("server", json!("a b")), "bad-server-name", "`a b`"),
        (with("server", json!("")), "bad-server-name", "1 to 32"),
        (with("arguments", json!("ls")), "bad-arguments", "`arguments`"),
        (with("arguments", Value::Null), "bad-arguments", "`arguments`"),
        (with("arguments", json!([])), "bad-arguments", "`arguments`"),
        (with("route", json!("Direct")), "bad-field", "expected `bridge` or `direct`"),
        (with("route", Value::Null), "bad-field", "`route`"),
        (with("attendance", json!("attended")), "bad-field", "`interactive`"),
        (with("attendance", json!(true)), "bad-field", "`attendance`"),
        (with("facts", json!("none")), "bad-field", "`facts`"),
        (with("facts", json!({ "real": "/" })), "bad-field", "`real`"),
        (with("facts", json!({ "trust": "yes" })), "bad-field", "`facts.trust`"),
        (with("facts", json!({ "resolved": 5 })), "bad-field", "`facts.resolved`"),
    ];
    let mut input = Vec::new();
    for (number, (line, ..)) in rows.iter().enumerate() {
        input.extend_from_slice(line);
        input.extend_from_slice(format!("\n{}\n", delete(&number.to_string())).as_bytes());
    }
    let output = run(&DECIDE, input);
    let answers = records(&output);
    assert_eq!((answers.len(), exit(&output), stderr(&output).as_str()), (2 * rows.len(), 1, ""));
    for (number, (line, code, says)) in rows.iter().enumerate() {
        let line = String::from_utf8_lossy(&line[..line.len().min(120)]);
        let error = &answers[2 * number]["error"];
        assert_eq!(answers[2 * number]["line"], 2 * number + 1, "{line}");
        assert_eq!(error["code"], *code, "{line}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(says) && message.len() < 1000, "{line}: {message}");
        assert_eq!(answers[2 * number + 1], asks(&number.to_string()), "{line}");
    }
}

#[test]
fn a_list_in_the_place_of_a_table_is_a_wrong_type() {
    let mut input = String::new();
    for (key, value) in [
        ("workspace", json!(["/repo", [], "posix", "", []])),
        ("facts", json!(["/repo", "/repo", [], [], false, {}, null, ""])),
        ("attendance", json!({ "interactive": null })),
        ("route", json!({ "direct": null })),
        ("workspace", json!({ "root": "/repo", "flavour": { "posix": null } })),
    ] {
        let mut record = call("x", "Delete", &json!({ "path": "/repo/x" }));
        record[key] = value;
        writeln!(input, "{record}").unwrap();
    }
    let output = run(&DECIDE, input);
    let codes: Vec<String> = records(&output).iter().map(|r| r["error"]["code"].to_string()).collect();
    assert_eq!(codes, ["\"bad-field\""; 5]);
    assert_eq!(exit(&output), 1);
}

#[test]
fn messages_speak_of_the_record_and_not_of_the_program() {
    let with = |key: &str, value: Value| {
        let mut record = call("x", "Delete", &json!({ "path": "/repo/x" }));
        record[key] = value;
        format!("{record}\n")
    };
    let input = [
        with("workspace", json!(5)),
        with("facts", json!(null)),
        with("facts", json!({ "resolved": 5 })),
        with("route", json!(5)),
    ];
    let output = run(&DECIDE, input.concat());
    for record in records(&output) {
        let message = record["error"]["message"].as_str().unwrap();
        for word in ["struct", "enum", "OneOrMany", "GivenFacts", "i64"] {
            assert!(!message.contains(word), "{message}");
        }
    }
}

#[test]
fn nul_in_a_string_is_a_character_like_others() {
    let input = [
        call("path", "Delete", &json!({ "path": "/repo/\0x" })),
        call("cwd", "Bash", &json!({ "cwd": "a\0/../../etc" })),
        call("tool", "Ba\0sh", &json!({})),
        call("i\0d", "Bash", &json!({})),
    ];
    let input: String = input.iter().map(|line| format!("{line}\n")).collect();
    let output = run(&DECIDE, input);
    let answers = records(&output);
    assert_eq!(answers[0]["detail"], "/repo/\\u{0}x (a folder goes with everything in it)");
    assert_eq!(
        (&answers[1]["kind"], &answers[1]["cwd"], &answers[1]["detail"]),
        (
            &json!("external-cwd"),
            &json!({ "class": "invalid", "why": "nul" }),
            &json!("a\\u{0}/../../etc (invalid: nul)")
        )
    );
    assert_eq!((&answers[2]["kind"], &answers[2]["detail"]), (&json!("unknown-tool"), &json!("Ba\\u{0}sh")));
    assert_eq!(answers[3], free("i\0d", &json!({ "class": "inside" })));
    assert_eq!(exit(&output), 0);
}

#[test]
fn an_ambiguous_envelope_is_answered_with_a_denial() {
    let envelope = |text: &str| {
        let record = json!({
            "id": "x", "tool": "tool_invoke", "arguments": "@", "route": "bridge", "attendance": "interactive",
            "workspace": { "root": "/repo", "flavour": "posix" },
        });
        record.to_string().replace("\"@\"", text) + "\n"
    };
    let input = [
        envelope(r#"{"name":"a","name":"b","arguments":{}}"#),
        envelope(r#"{"name":"a","arguments":{"x":{"y":1,"y":1}}}"#),
        envelope(r#"{"name":"a","arguments":{"x":1e300}}"#),
        envelope(r#"{"name":"a"}"#),
        envelope(r#"{"name":"a","arguments":{},"more":1}"#),
        envelope(r#"{"name":"a","arguments":[]}"#),
        envelope(r#"{"name":5,"arguments":{}}"#),
        envelope(r"{}"),
    ];
    let output = run(&DECIDE, input.concat());
    assert_eq!(kinds(&output), vec![("deny".to_owned(), "bad-envelope".to_owned()); input.len()]);
    assert_eq!(exit(&output), 0);
}

#[test]
fn what_is_no_file_of_calls_is_said() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    let missing = files.argument("missing.jsonl");
    for command in ["decide", "explain", "registry"] {
        fails(&[command, &folder], "", 1, &[&folder, "is a folder"]);
        fails(&[command, &missing], "", 1, &["cannot read", &missing]);
    }
    for list in [&folder, &missing] {
        fails(&["decide", "--tools", list], delete("a"), 1, &[list]);
    }
}

// ---------------------------------------------------------------- output that nobody takes

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let files = Files::new();
    let calls = files.file("calls.jsonl", (delete("a") + "\n").repeat(5000));
    let call = files.file("call.json", delete("a"));
    let list = files.file("list.json", list("gh", &["a", "b"]).to_string());
    let commands: [&[&str]; 8] = [
        &["decide", &calls],
        &["explain", &call],
        &["explain", "--json", &call],
        &["registry", "--all", &list],
        &["doctor"],
        &["policy", "check"],
        &["completions", "bash"],
        &["--help"],
    ];
    for arguments in commands {
        let mut child = Command::new(cli::program().unwrap())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
fn with_full_disk(arguments: &[&str], input: &str, full: &str) -> Output {
    let sink = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let other = |name: &str| if full == name { sink() } else { Stdio::piped() };
    let mut child = Command::new(cli::program().unwrap())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(other("stdout"))
        .stderr(other("stderr"))
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may end before it has read all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let files = Files::new();
    let list = files.file("list.json", list("gh", &["a", "b"]).to_string());
    let many = (delete("a") + "\n").repeat(2000);
    let commands: [(&[&str], &str); 8] = [
        (&["decide"], &delete("a")),
        (&["decide"], &many),
        (&["explain"], &delete("a")),
        (&["explain", "--json"], &delete("a")),
        (&["registry", &list], ""),
        (&["doctor"], ""),
        (&["policy", "check"], ""),
        (&["completions", "zsh"], ""),
    ];
    for (arguments, input) in commands {
        let output = with_full_disk(arguments, input, "stdout");
        let text = stderr(&output);
        assert_eq!(exit(&output), 1, "{arguments:?}: {text}");
        assert!(text.starts_with("error: cannot write the output: "), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_that_cannot_be_written_keeps_its_exit_code() {
    for (arguments, code) in [(&["decide", "/nowhere/calls"][..], 1), (&["decide", "--settings", "/nowhere/s"], 2)] {
        let output = with_full_disk(arguments, "", "stderr");
        assert_eq!(exit(&output), code, "{arguments:?}");
    }
}

// ---------------------------------------------------------------- what reaches an eye

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

// ---------------------------------------------------------------- verdicts

/// A rule that denies a tool must not open the names that are almost its own.
#[test]
fn a_restriction_never_loosens_a_near_miss() {
    let files = Files::new();
    let tools = files.file("gh.json", list("gh", &["x"]).to_string());
    let deny = |tool: &str| json!({ "rules": [{ "tool": tool, "decision": "deny" }] });
    let enforce = json!({ "mcpSecurity": { "mode": "enforce" } });
    let rows: [(&[&str], Value); 3] = [
        (&["bash", "BASH", " Bash", "Bash ", "Bash\n"], deny("Bash")),
        (&["MCP__gh__x", "mcp__gh__X", " mcp__gh__x"], deny("mcp__gh__*")),
        (&["MCP__gh__x", "mcp__gh__X", " mcp__gh__x"], enforce),
    ];
    let mut loosened = Vec::new();
    for (names, settings) in rows {
        let input: String = names.iter().map(|name| format!("{}\n", call(name, name, &json!({})))).collect();
        let before = kinds(&run(&["decide", "--tools", &tools], &input));
        assert_eq!(before, vec![("deny".to_owned(), "unknown-tool".to_owned()); names.len()], "{names:?}");
        let file = files.file("settings.json", settings.to_string());
        let after = kinds(&run(&["decide", "--tools", &tools, "--settings", &file], &input));
        for (name, (verdict, _)) in names.iter().zip(after) {
            if verdict != "deny" {
                loosened.push(format!("{name:?} under {settings}: {verdict}"));
            }
        }
    }
    assert!(loosened.is_empty(), "{}", loosened.join("\n"));
}

/// What some language's trim takes off counts as an outer blank of a tool's name, as it does of a cwd.
#[test]
fn every_outer_blank_is_a_near_miss() {
    let names = ["Bash\u{feff}", "\u{200b}Bash", "Bash\u{1c}", "\u{180e}Bash", "Bash\u{a0}"];
    let input: String = names.iter().map(|name| format!("{}\n", call("x", name, &json!({ "cwd": "/etc" })))).collect();
    let files = Files::new();
    let settings = files.file("s.toml", "system.bashCwdPolicy = 'workspace-only'");
    let output = run(&["decide", "--settings", &settings], input);
    assert_eq!(kinds(&output), vec![("deny".to_owned(), "unknown-tool".to_owned()); names.len()]);
}

/// A rule that names a server also covers a tool that the registry does not hold, by whichever name it is called.
#[test]
fn a_rule_for_a_server_covers_both_names() {
    let files = Files::new();
    let settings = json!({ "rules": [{ "server": "gh", "tool": "delete_*", "decision": "deny" }] });
    let settings = files.file("s.json", settings.to_string());
    let mut by_pair = call("pair", "delete_repo", &json!({}));
    by_pair["server"] = json!("gh");
    let by_name = call("name", "mcp__gh__delete_repo", &json!({}));
    let output = run(&["decide", "--settings", &settings], format!("{by_pair}\n{by_name}\n"));
    let verdicts: Vec<String> = kinds(&output).into_iter().map(|(verdict, _)| verdict).collect();
    assert_eq!(verdicts, ["deny", "deny"]);
}

#[test]
fn the_locked_profile_refuses_where_dangerous_asks() {
    let input = [
        call("inside", "Bash", &json!({ "cwd": "src" })),
        call("outside", "Bash", &json!({ "cwd": "/etc" })),
        call("start", "ManagedProcess", &json!({ "action": "start", "cwd": ".." })),
        call("status", "ManagedProcess", &json!({ "action": "status", "cwd": ".." })),
        call("delete", "Delete", &json!({ "path": "x" })),
        call("ssh", "SSHManager", &json!({ "action": "EXEC" })),
        call("unknown", "Delte", &json!({})),
    ];
    let input: String = input.iter().map(|line| format!("{line}\n")).collect();
    let verdicts = |profile: &str| kinds(&run(&["decide", "--profile", profile], &input));
    let pair = |verdict: &str, kind: &str| (verdict.to_owned(), kind.to_owned());
    let mut expected = vec![
        pair("allow", ""),
        pair("ask", "external-cwd"),
        pair("ask", "external-cwd"),
        pair("allow", ""),
        pair("ask", "delete"),
        pair("ask", "ssh-mutation"),
        pair("deny", "unknown-tool"),
    ];
    assert_eq!(verdicts("dangerous"), expected);
    expected[1] = pair("deny", "cwd-locked");
    expected[2] = pair("deny", "cwd-locked");
    assert_eq!(verdicts("locked"), expected);
}

#[test]
fn a_profile_adds_to_the_settings() {
    let files = Files::new();
    let settings =
        files.file("s.toml", "[system]\ntoolApprovalMode = 'off'\n[[rules]]\ntool = 'Read'\ndecision = 'ask'\n");
    let read = call("r", "Read", &json!({ "path": "x" }));
    let output =
        run(&["decide", "--settings", &settings, "--profile", "dangerous"], format!("{}\n{read}", delete("d")));
    let pair = |verdict: &str, kind: &str| (verdict.to_owned(), kind.to_owned());
    assert_eq!(kinds(&output), [pair("ask", "delete"), pair("ask", "rule-ask")]);
}

#[cfg(unix)]
struct Tree {
    files: Files,
    root: String,
    skills: String,
}

#[cfg(unix)]
impl Tree {
    /// A workspace and a skills folder, and links of these names in both, which lead out.
    fn new(links: &[&str]) -> Self {
        let files = Files::new();
        for folder in ["repo/src", "skills/demo", "outside/x"] {
            std::fs::create_dir_all(files.path(folder)).unwrap();
        }
        for link in links {
            for folder in ["repo", "skills"] {
                std::os::unix::fs::symlink(files.path("outside"), files.path(folder).join(link)).unwrap();
            }
        }
        let path = |name: &str| files.path(name).canonicalize().unwrap().to_str().unwrap().to_owned();
        let (root, skills) = (path("repo"), path("skills"));
        Self { files, root, skills }
    }

    fn verdicts(&self, profile: &str, more: &[&str], cwds: &[&str]) -> Vec<(String, Value)> {
        let mut input = String::new();
        for cwd in cwds {
            let mut record = call("x", "Bash", &json!({ "cwd": cwd }));
            record["workspace"] = json!({ "root": self.root, "flavour": "posix", "skills": [self.skills] });
            writeln!(input, "{record}").unwrap();
        }
        let output = run(&[&["decide", "--profile", profile], more].concat(), input);
        let verdict = |r: &Value| (r["verdict"].as_str().unwrap().to_owned(), r["cwd"].clone());
        records(&output).iter().map(verdict).collect()
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_with_resolve() {
    let tree = Tree::new(&["link"]);
    let inside = json!({ "class": "inside" });
    let link = json!({ "class": "outside", "why": "link" });
    let cwds = ["src", "link", "link/x", "link/new", "new", "skill:link", "./link", " link ", "link\\x"];
    let named: Vec<(String, Value)> = tree.verdicts("dangerous", &[], &cwds);
    assert!(named.iter().all(|(verdict, _)| verdict == "allow"), "{named:?}");
    let skill = json!({ "class": "outside", "why": "link" });
    for (profile, word) in [("dangerous", "ask"), ("locked", "deny")] {
        let expected: Vec<(String, Value)> = vec![
            ("allow".into(), inside.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            ("allow".into(), inside.clone()),
            (word.into(), skill.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
            (word.into(), link.clone()),
        ];
        assert_eq!(tree.verdicts(profile, &["--resolve"], &cwds), expected, "{profile}");
    }
    // Facts in the record are not believed then.
    let mut record = call("x", "Bash", &json!({ "cwd": "link" }));
    record["workspace"] = json!({ "root": tree.root, "flavour": "posix" });
    record["facts"] = json!({ "resolved": tree.files.path("repo/src"), "resolvedRoot": tree.root });
    let output = run(&["decide", "--profile", "locked", "--resolve"], record.to_string());
    assert_eq!(kinds(&output), [("deny".to_owned(), "cwd-locked".to_owned())]);
}

/// Whatever the cwd is called: a link out of the workspace is seen where the machine is asked.
#[cfg(unix)]
#[test]
fn no_name_hides_a_link() {
    let names = ["%link", "%1", "\u{1}", "-link", ".link", "..link", "link.", "a b", "é", "{link}", "!link"];
    let tree = Tree::new(&names);
    let cwds: Vec<String> = names
        .iter()
        .flat_map(|n| [(*n).to_owned(), format!("workspace:{n}"), format!("{n}/x"), format!("{n}//x")])
        .collect();
    let cwds: Vec<&str> = cwds.iter().map(String::as_str).collect();
    for profile in ["dangerous", "locked"] {
        let verdicts = tree.verdicts(profile, &["--resolve"], &cwds);
        let missed: Vec<&&str> =
            cwds.iter().zip(&verdicts).filter(|(_, v)| v.0 == "allow").map(|(cwd, _)| cwd).collect();
        assert!(missed.is_empty(), "{profile}: {missed:?}");
    }
}

/// Blanks behind a scheme may be trimmed or kept by whoever uses the text, so both places are looked at.
#[cfg(unix)]
#[test]
fn no_blank_behind_a_scheme_hides_a_link() {
    let kept = Tree::new(&[" kept", "kept "]);
    let trimmed = Tree::new(&["trimmed"]);
    for profile in ["dangerous", "locked"] {
        let mut missed = Vec::new();
        let looks: [(&Tree, &[&str]); 2] = [
            (&kept, &["workspace: kept", "workspace:kept "]),
            (&trimmed, &["workspace: trimmed", "skill: trimmed", "skill:/ trimmed", "skill:trimmed "]),
        ];
        for (tree, cwds) in looks {
            let verdicts = tree.verdicts(profile, &["--resolve"], cwds);
            missed.extend(cwds.iter().zip(verdicts).filter(|(_, v)| v.0 == "allow").map(|(cwd, _)| *cwd));
        }
        assert!(missed.is_empty(), "{profile}: {missed:?}");
    }
}

/// A folder in a skill that does not exist yet lies where its parent leads.
#[cfg(unix)]
#[test]
fn what_is_not_there_yet_lies_where_its_parent_leads() {
    let tree = Tree::new(&["link"]);
    for profile in ["dangerous", "locked"] {
        let verdicts = tree.verdicts(profile, &["--resolve"], &["link/new", "skill:link/new"]);
        let allowed: Vec<&(String, Value)> = verdicts.iter().filter(|v| v.0 == "allow").collect();
        assert!(allowed.is_empty(), "{profile}: {verdicts:?}");
    }
}

// ---------------------------------------------------------------- explain

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

// ---------------------------------------------------------------- settings

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
        ("toml", probe("timeoutMs = 199"), vec!["line 5", "probe[0].timeoutMs`", "`199`", "from 200 to 60000"]),
        ("toml", probe("timeoutMs = 60001"), vec!["line 5", "probe[0].timeoutMs`", "`60001`", "from 200 to 60000"]),
        ("toml", probe("").replace("stdio", "sse"), vec!["line 3", "`sse`", "`stdio` or `streamable-http`"]),
        ("toml", probe("").replace("'a'", "'a b'"), vec!["line 2", "`a b`", "1 to 32 characters"]),
        ("toml", "mcpSecurity.mode = 'on'".into(), vec!["`mcpSecurity.mode`", "`on`", "`off` or `enforce`"]),
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

// ---------------------------------------------------------------- usage

#[test]
fn wrong_usage_ends_with_two() {
    let rows: [(&[&str], &str); 12] = [
        (&["nonsense"], "nonsense"),
        (&["decide", "--nonsense"], "--nonsense"),
        (&["decide", "a", "b"], "'b'"),
        (&["decide", "--profile", "safe"], "dangerous, locked"),
        (&["decide", "--profile"], "--profile"),
        (&["decide", "--server", "a b"], "1 to 32"),
        (&["registry", "--server", ""], "--server"),
        (&["registry", "--context-window", "many"], "many"),
        (&["policy", "nonsense"], "nonsense"),
        (&["policy", "build"], "<FOLDER>"),
        (&["completions", "cmd"], "bash"),
        (&["completions"], "<SHELL>"),
    ];
    for (arguments, says) in rows {
        fails(arguments, "", 2, &[says, "--help"]);
    }
    for arguments in [&[][..], &["policy"]] {
        let output = run(arguments, "");
        assert_eq!((exit(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains("Usage: "), "{}", stderr(&output));
    }
}

/// Walks through the commands as the help lists them, so that a new one is not forgotten.
#[test]
fn every_command_has_help_with_an_example() {
    fn walk(path: &[&str], seen: &mut Vec<String>) {
        let output = run(&[path, &["--help"]].concat(), "");
        let help = stdout(&output);
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{path:?}");
        let listed = help.split_once("Commands:\n").map_or("", |(_, rest)| rest);
        let commands: Vec<&str> = listed
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next())
            .filter(|command| *command != "help")
            .collect();
        if commands.is_empty() || path.is_empty() {
            let name = [&["toolwarden"], path].concat().join(" ");
            let example = help.split_once("Example").map_or("", |(_, rest)| rest);
            assert!(example.contains(&name), "{name} --help has no example:\n{help}");
            seen.push(name);
        }
        for command in commands {
            walk(&[path, &[command]].concat(), seen);
        }
    }
    let mut seen = Vec::new();
    walk(&[], &mut seen);
    for name in [
        "toolwarden",
        "toolwarden decide",
        "toolwarden explain",
        "toolwarden registry",
        "toolwarden policy build",
        "toolwarden policy check",
        "toolwarden doctor",
        "toolwarden completions",
    ] {
        assert!(seen.iter().any(|s| s == name), "{name} is not in {seen:?}");
    }
}

#[test]
fn the_version_is_told() {
    for flag in ["--version", "-V"] {
        let output = run(&[flag], "");
        assert_eq!(
            (exit(&output), stdout(&output), stderr(&output)),
            (0, format!("toolwarden {}\n", env!("CARGO_PKG_VERSION")), String::new())
        );
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for (shell, sign) in
        [("bash", "complete -F _toolwarden"), ("zsh", "#compdef toolwarden"), ("fish", "complete -c toolwarden")]
    {
        let output = run(&["completions", shell], "");
        let script = stdout(&output);
        assert_eq!((exit(&output), stderr(&output).as_str()), (0, ""), "{shell}");
        for word in [sign, "decide", "explain", "registry", "policy", "doctor", "profile"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

// ---------------------------------------------------------------- doctor and policy

#[test]
fn doctor_says_what_is_set_up() {
    let findings = |arguments: &[&str]| {
        let output = run(&[&["doctor"], arguments].concat(), "");
        let findings: Vec<(String, String)> = cli::lines(&output)
            .unwrap()
            .iter()
            .filter(|f| f["what"] != "wasm target")
            .map(|f| (f["what"].as_str().unwrap().to_owned(), f["health"].as_str().unwrap().to_owned()))
            .collect();
        (exit(&output), findings)
    };
    let all = |health: &[(&str, &str)]| -> Vec<(String, String)> {
        health.iter().map(|(what, health)| ((*what).into(), (*health).into())).collect()
    };
    let files = Files::new();
    let good = files.file("good.toml", "[system]\ntoolApprovalMode = 'dangerous'\n");
    let bad = files.file("bad.toml", "system = 1");
    let no_module = files.file("no-module.toml", "module.path = 'none.wasm'");
    let module = [("policy module", "good"), ("registry", "good")];
    assert_eq!(findings(&[]), (0, all(&[&[("settings", "optional")][..], &module].concat())));
    for arguments in [&["--settings", &good][..], &["--profile", "locked"]] {
        assert_eq!(findings(arguments), (0, all(&[&[("settings", "good")][..], &module].concat())));
    }
    assert_eq!(findings(&["--settings", &bad]), (2, all(&[("settings", "bad")])));
    assert_eq!(findings(&["--settings", &no_module]), (3, all(&[("settings", "good"), ("policy module", "bad")])));
}

#[test]
fn the_built_in_module_can_be_used() {
    let output = run(&["policy", "check"], "");
    let record = cli::lines(&output).unwrap().remove(0);
    assert_eq!(exit(&output), 0);
    assert_eq!((&record["ok"], &record["name"]), (&json!(true), &json!("toolwarden-default")));
    let digest = record["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:") && digest.len() == 7 + 64, "{digest}");

    // The same bytes from a file are the same module.
    let files = Files::new();
    let decided = cli::lines(&run(&DECIDE, delete("a"))).unwrap().remove(0);
    assert_eq!(decided["policy"]["digest"], digest);
    let bytes = std::fs::read(vectors::folder().join("../policy-guest/dist/toolwarden-policy.wasm")).unwrap();
    let file = files.file("m.wasm", bytes);
    let from_file = cli::lines(&run(&["policy", "check", &file], "")).unwrap().remove(0);
    assert_eq!(from_file, record);
    let output = run(&["decide", "--profile", "dangerous", "--module", &file], delete("a"));
    assert_eq!((exit(&output), records(&output)), (0, vec![asks("a")]));
}

#[test]
fn a_module_that_cannot_be_used_is_said() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    let rows = [
        (files.argument("none.wasm"), "module-unreadable"),
        (folder, "module-unreadable"),
        (files.file("empty.wasm", ""), "module-not-a-component"),
        (files.file("text.wasm", "nothing of that kind"), "module-not-a-component"),
        (files.file("core.wasm", b"\0asm\x01\0\0\0"), "module-not-a-component"),
    ];
    for (module, code) in rows {
        let output = run(&["policy", "check", &module], "");
        let record = cli::lines(&output).unwrap().remove(0);
        assert_eq!(
            (exit(&output), &record["ok"], &record["error"]["code"]),
            (3, &json!(false), &json!(code)),
            "{module}"
        );
        fails(&["decide", "--module", &module], delete("a"), 3, &[code]);
    }
    let settings = files.file("s.toml", "deferral.mode = 'on'");
    let output = run(&["policy", "check", "--settings", &settings], "");
    let record = cli::lines(&output).unwrap().remove(0);
    assert_eq!((exit(&output), &record["error"]["code"]), (2, &json!("settings-rejected")));
}

#[test]
fn a_folder_without_a_crate_is_not_built() {
    let files = Files::new();
    let folder = files.0.path().to_str().unwrap().to_owned();
    let out = files.argument("out.wasm");
    for face in [&[][..], &["--core-module"]] {
        fails(&[&["policy", "build", &folder, "--out", &out], face].concat(), "", 2, &[&folder, "Cargo.toml"]);
    }
    fails(&["policy", "build", &files.argument("none")], "", 2, &["Cargo.toml"]);
    assert!(!files.path("out.wasm").exists());
}

// ---------------------------------------------------------------- registry

fn list(server: &str, names: &[&str]) -> Value {
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "server": server, "tools": tools })
}

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
    let rows: [(Value, &[&str]); 11] = [
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
