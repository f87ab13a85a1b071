//! What `decide` makes of lines: long, broken, ambiguous ones among good ones.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{DECIDE, Files, asks, call, delete, exit, fails, free, kinds, records, refused, run, stderr, stdout};

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
