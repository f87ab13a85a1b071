//! A module's life on the command line: its author's bench, and a service whose policy changes while it runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use toolwarden_harness::{cli, guests, vectors};

use crate::{Files, exit, fails, run, stderr, stdout};

const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../policy-guest/dist/toolwarden-policy.wasm");
const HABITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/guests/habits.wasm");

fn call(id: &str, tool: &str) -> String {
    let workspace = json!({ "root": "/repo", "flavour": "posix" });
    let call = json!({
        "id": id, "tool": tool, "arguments": {}, "route": "direct", "attendance": "interactive", "workspace": workspace,
    });
    format!("{call}\n")
}

fn record(arguments: &[&str]) -> (i32, Value) {
    let output = run(arguments, "");
    (exit(&output), cli::lines(&output).unwrap().pop().unwrap_or_else(|| panic!("{}", stderr(&output))))
}

#[test]
fn a_module_is_signed_and_verified() {
    let files = Files::new();
    let (module, key) = (files.file("m.wasm", std::fs::read(DEFAULT).unwrap()), files.argument("key.pem"));
    let (code, signed) = record(&["policy", "sign", &module, "--key", &key, "--new-key"]);
    assert_eq!(code, 0);
    let public = signed["key"].as_str().unwrap();
    assert_eq!(record(&["policy", "verify", &module, "--key", public]).0, 0);
    // The same key again, from its file; never a new one over it.
    assert_eq!(record(&["policy", "sign", &module, "--key", &key]).1["key"], public);
    fails(&["policy", "sign", &module, "--key", &key, "--new-key"], "", 2, &["cannot make the key"]);
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&key).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    let settings = files.file("t.toml", format!("[module]\npath = 'm.wasm'\nkeys = ['{public}']\n"));
    assert_eq!(run(&["decide", "--settings", &settings], call("a", "Bash")).status.code(), Some(0));
    files.file("m.wasm", std::fs::read(HABITS).unwrap());
    let (code, answer) = record(&["policy", "verify", &module, "--key", public]);
    assert_eq!((code, &answer["error"]["code"]), (3, &json!("signature-mismatch")));
    fails(&["decide", "--settings", &settings], call("a", "Bash"), 3, &["signature-mismatch"]);
    std::fs::remove_file(files.path("m.wasm.sig")).unwrap();
    fails(&["decide", "--settings", &settings], call("a", "Bash"), 3, &["signature-missing"]);
    fails(&["policy", "verify", &module, "--key", "ed25519:x"], "", 2, &["no public key"]);
    fails(&["policy", "sign", &module, "--key", &settings], "", 2, &["PKCS#8"]);
}

#[test]
fn a_pinned_module_is_the_only_one() {
    let files = Files::new();
    let other = format!("sha256:{}", "0".repeat(64));
    files.file("m.wasm", std::fs::read(DEFAULT).unwrap());
    let settings = files.file("t.toml", format!("[module]\npath = 'm.wasm'\nsha256 = '{other}'\n"));
    fails(&["decide", "--settings", &settings], call("a", "Bash"), 3, &["module-digest-mismatch", &other]);
    for (text, says) in [
        ("sha256 = 'abc'\npath = 'm.wasm'", "64 hexadecimal digits"),
        (&format!("sha256 = '{other}'"), "no `module.path`"),
        ("keys = ['x']", "no public key"),
        ("trial = {path = 'x', sampleRate = 0}", "above 0"),
        ("trial = 1", "module.trial"),
        ("rollbackFaults = 101", "0 to 100"),
    ] {
        let settings = files.file("t.toml", format!("[module]\n{text}\n"));
        fails(&["decide", "--settings", &settings], "", 2, &[says]);
    }
}

#[test]
fn vectors_are_run_and_what_they_miss_is_told() {
    let rows = ["gate", "cwd", "floors"].map(|name| vectors::folder().join(format!("vectors/{name}.jsonl")));
    for file in &rows {
        let (code, last) = record(&["policy", "test", "--built-in", "--vectors", file.to_str().unwrap()]);
        assert_eq!((code, &last["summary"]["failed"]), (0, &json!(0)), "{}", file.display());
    }
    let files = Files::new();
    let settings = files
        .file("t.toml", "[[rules]]\ntool = 'Bash'\ndecision = 'ask'\n[[rules]]\ntool = 'Delete'\ndecision = 'deny'\n");
    let row = |id: &str, expect: Value| {
        let call: Value = serde_json::from_str(&call(id, "Bash")).unwrap();
        json!({ "id": id, "note": "a shell", "call": call, "expect": expect }).to_string() + "\n"
    };
    let good = row("a", json!({ "verdict": "ask", "kind": "rule-ask", "decidedBy": "rule-ask" }));
    let bad = row("b", json!({ "verdict": "allow" }));
    let file = files.file("v.jsonl", format!("{good}{bad}"));
    let test = ["policy", "test", "--built-in", "--settings", &settings, "--vectors", &file];
    let output = run(&test, "");
    let lines = cli::lines(&output).unwrap();
    assert_eq!(exit(&output), 1);
    assert_eq!(lines[0], json!({ "id": "a", "ok": true, "problem": null }));
    assert_eq!(lines[1]["problem"], "verdict is \"ask\" instead of \"allow\"");
    let (code, last) = record(&[&test[..], &["--filter", "a"]].concat());
    assert_eq!(code, 1, "the note of both has an a: {last}");

    files.file("v.jsonl", good);
    let (code, last) = record(&test);
    assert_eq!(code, 0);
    assert_eq!(last["summary"]["unnoticedRules"], json!([{ "tool": "Delete", "decision": "deny" }]));
    let unreached = last["summary"]["unreached"].as_array().unwrap();
    assert!(unreached.contains(&json!("rule-deny")) && !unreached.contains(&json!("rule-ask")), "{unreached:?}");

    for (text, says) in [
        ("{}", "`id` is missing"),
        ("{\"id\":\"x\"}", "`expect` is missing"),
        ("{\"id\":\"x\",\"expect\":{}}", "expects nothing"),
        ("{\"id\":\"x\",\"expect\":{\"verdikt\":\"ask\"}}", "`expect.verdikt` is unknown"),
        ("{\"id\":\"x\",\"expect\":{\"verdict\":\"ask\"}}", "neither `call` nor `workspace`"),
        ("{\"id\":\"x\",\"id\":\"y\",\"expect\":{\"verdict\":\"ask\"}}", "line 1"),
    ] {
        let file = files.file("v.jsonl", text);
        fails(&["policy", "test", "--built-in", "--vectors", &file], "", 1, &[says]);
    }
    fails(
        &["policy", "test", "--built-in", "--filter", "no such text", "--vectors", rows[1].to_str().unwrap()],
        "",
        2,
        &["no vector"],
    );
}

#[test]
fn a_replay_tells_what_would_change() {
    let files = Files::new();
    let strict = files.file("new.toml", "[[rules]]\ntool = 'Bash'\ndecision = 'deny'\n");
    let audit = format!("{{\"seq\":1,\"call\":{}}}\n", call("b", "Bash").trim());
    let calls = files.file("calls.jsonl", call("a", "Bash") + &audit + &call("c", "List") + "nonsense\n");
    let output = run(&["policy", "replay", &calls, "--new-settings", &strict], "");
    let lines = cli::lines(&output).unwrap();
    assert_eq!(exit(&output), 1, "one line cannot be read");
    assert_eq!((&lines[0]["change"], &lines[0]["old"]["id"]), (&json!("stricter"), &json!("a")));
    assert_eq!((&lines[1]["old"]["verdict"], &lines[1]["new"]["verdict"]), (&json!("allow"), &json!("deny")));
    assert_eq!(lines[2]["error"]["code"], "not-json");
    assert_eq!(lines[3]["summary"], json!({ "calls": 3, "same": 1, "stricter": 2, "looser": 0, "otherReason": 0 }));

    let calls = files.file("calls.jsonl", call("a", "Bash"));
    let loose = ["policy", "replay", &calls, "--old-settings", &strict, "--new-module", HABITS];
    let (code, last) = record(&[&loose[..], &["--fail-on", "looser"]].concat());
    assert_eq!((code, &last["summary"]["looser"]), (1, &json!(1)));
    assert_eq!(record(&loose).0, 0);
}

#[test]
fn modules_are_taken_apart_and_compared() {
    let (code, anatomy) = record(&["policy", "inspect", DEFAULT]);
    assert_eq!((code, &anatomy["imports"], &anatomy["problem"]), (0, &json!([]), &Value::Null));
    assert_eq!(anatomy["exports"].as_array().unwrap().len(), 7);
    assert!(anatomy["settingsSchema"]["properties"]["rules"].is_object());
    let files = Files::new();
    let wasi = files.file("wasi.wasm", guests::load("imports-wasi").unwrap());
    let (code, anatomy) = record(&["policy", "inspect", &wasi]);
    assert_eq!((code, &anatomy["problem"]["code"]), (0, &json!("module-imports")));
    assert!(!anatomy["imports"].as_array().unwrap().is_empty());

    let (code, same) = record(&["policy", "diff", DEFAULT, DEFAULT]);
    assert_eq!((code, &same["differences"], &same["disagreements"]), (0, &json!([]), &json!([])));
    let (code, other) = record(&["policy", "diff", DEFAULT, HABITS, "--profile", "dangerous"]);
    assert_eq!(code, 0);
    assert!(other["verdicts"]["looser"].as_u64().unwrap() > 50, "{}", other["verdicts"]);
    let what: Vec<&str> =
        other["differences"].as_array().unwrap().iter().map(|d| d["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["name", "summary", "digest", "sources", "size", "settings schema"]);
}

#[test]
fn a_module_is_measured() {
    let output = run(&["policy", "bench", "--calls", "-"], call("a", "Bash") + &call("b", "Delete"));
    let lines = cli::lines(&output).unwrap();
    let what: Vec<&str> = lines.iter().map(|line| line["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["load", "instance", "fresh call", "warm call"]);
    assert!(lines.iter().all(|line| line["medianNs"].as_u64().unwrap() > 0 && line["times"].as_u64().unwrap() >= 3));
    fails(&["policy", "bench", "--calls", "-"], "", 1, &["no call"]);
}

#[test]
fn what_the_gate_refuses_is_said_by_check() {
    let files = Files::new();
    let settings = files.file("t.toml", "module.settings.habit = 'everything-inside'\n");
    let (code, answer) = record(&["policy", "check", HABITS, "--settings", &settings]);
    assert_eq!((code, &answer["ok"]), (3, &json!(false)));
    assert_eq!((&answer["error"]["code"], &answer["error"]["check"]), (&json!("safety-looser"), &json!("safety")));
}

/// `decide --watch`, with its answers and events read as they come.
struct Service {
    child: Child,
    calls: ChildStdin,
    verdicts: BufReader<ChildStdout>,
    events: BufReader<std::process::ChildStderr>,
}

impl Service {
    fn start(settings: &str) -> Self {
        let mut child = Command::new(cli::program().unwrap())
            .args(["decide", "--watch", "--settings", settings])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let calls = child.stdin.take().unwrap();
        let verdicts = BufReader::new(child.stdout.take().unwrap());
        let events = BufReader::new(child.stderr.take().unwrap());
        Self { child, calls, verdicts, events }
    }

    fn decide(&mut self, tool: &str) -> Value {
        self.calls.write_all(call("a", tool).as_bytes()).unwrap();
        let mut line = String::new();
        self.verdicts.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn event(&mut self) -> Value {
        let mut line = String::new();
        self.events.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_service_takes_another_policy_while_it_runs() {
    let files = Files::new();
    let settings = files.file("t.toml", "");
    let mut service = Service::start(&settings);
    assert_eq!(service.decide("Bash")["verdict"], "allow");
    files.file("t.toml", "[[rules]]\ntool = 'Bash'\ndecision = 'deny'\n");
    let event = service.event();
    assert_eq!((&event["event"], &event["cause"]), (&json!("module-swapped"), &json!("reload")));
    let verdict = service.decide("Bash");
    assert_eq!((&verdict["verdict"], &verdict["policy"]["generation"]), (&json!("deny"), &json!(2)));
    // Nonsense is refused, and what was in force still is.
    files.file("t.toml", "[[rules]\n");
    assert_eq!(service.event()["event"], "module-refused");
    assert_eq!(service.decide("Bash")["verdict"], "deny");
    drop(service);

    // Started anew on the same files it refuses to run at all, rather than run on something else.
    fails(&["decide", "--watch", "--settings", &settings], "", 2, &["settings-invalid"]);
}

#[test]
#[cfg(unix)]
fn a_service_reloads_on_sighup_and_survives_being_killed_while_it_reloads() {
    let files = Files::new();
    files.file("m.wasm", std::fs::read(HABITS).unwrap());
    let settings = files.file("t.toml", "module.path = 'm.wasm'\n");
    for round in 0..3 {
        let mut service = Service::start(&settings);
        assert_eq!(service.decide("Bash")["policy"]["name"], "toolwarden-habits", "round {round}");
        let part = files.file("m.part", std::fs::read(DEFAULT).unwrap());
        std::fs::rename(part, files.path("m.wasm")).unwrap();
        let pid = service.child.id().to_string();
        let hang_up = Command::new("kill").args(["-HUP", &pid]).status().unwrap();
        assert!(hang_up.success());
        if round < 2 {
            // Killed on the spot, wherever the reload has come to: nothing of it lies on the disk, so the next start is whole.
            let killed = Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            assert!(killed.success());
            drop(service);
            files.file("m.wasm", std::fs::read(HABITS).unwrap());
        } else {
            assert_eq!(service.event()["event"], "module-swapped");
            assert_eq!(service.decide("Bash")["policy"]["name"], "toolwarden-default");
        }
    }
    assert_eq!(stdout(&run(&["decide", "--settings", &settings], "")), "");
}
