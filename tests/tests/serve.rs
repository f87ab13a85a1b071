//! The sidecar, from outside: over its socket and over loopback.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolwarden_harness::cli;

/// A sidecar, ended with the test.
struct Sidecar {
    folder: tempfile::TempDir,
    child: Child,
    out: BufReader<ChildStdout>,
    listening: String,
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug, PartialEq)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// One request on a connection of its own, byte for byte; what comes back until the other end closes.
fn exchange(mut stream: impl std::io::Read + std::io::Write, request: &[u8]) -> Reply {
    // A server that refuses early may close before it has read all.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_lowercase(), body: body.into() }
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

impl Sidecar {
    fn start(arguments: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let arguments = arguments(folder.path());
        let mut child = Command::new(cli::program().unwrap())
            .arg("serve")
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let listening = listening["listening"].as_str().unwrap().to_owned();
        Self { folder, child, out, listening }
    }

    fn on_socket(more: &[&str]) -> Self {
        Self::start(|folder| {
            let socket = folder.join("socket").display().to_string();
            let arguments = ["--socket", &socket, "--profile", "dangerous"];
            arguments.iter().chain(more).map(ToString::to_string).collect()
        })
    }

    fn on_loopback() -> Self {
        Self::start(|folder| {
            let token = folder.join("token").display().to_string();
            ["--listen", "127.0.0.1:0", "--token-file", &token].map(ToOwned::to_owned).to_vec()
        })
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.socket()).unwrap()
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Reply {
        exchange(self.connect(), &request(method, path, "Host: localhost\r\n", body))
    }

    fn address(&self) -> &str {
        self.listening.strip_prefix("http://").unwrap()
    }

    fn tcp(&self, headers: &str, path: &str) -> Reply {
        exchange(TcpStream::connect(self.address()).unwrap(), &request("GET", path, headers, ""))
    }

    /// Tells it to stop, and waits until it has.
    fn stop(&mut self) -> i32 {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
        self.child.wait().unwrap().code().unwrap()
    }
}

fn call(tool: &str, arguments: &Value) -> String {
    json!({
        "id": "c", "tool": tool, "arguments": arguments, "route": "direct", "attendance": "interactive",
        "workspace": { "root": "/tmp", "flavour": "posix" },
    })
    .to_string()
}

fn delete() -> String {
    call("Delete", &json!({ "path": "build" }))
}

#[test]
fn verdicts_are_those_of_the_command_line_to_the_byte() {
    let sidecar = Sidecar::on_socket(&[]);
    let calls =
        [delete(), call("Bash", &json!({ "command": "ls" })), call("Bash", &json!({ "command": "l", "cwd": "/etc" }))];
    let output = cli::run(&["decide", "--profile", "dangerous"], calls.join("\n").as_bytes()).unwrap();
    let expected = String::from_utf8(output.stdout).unwrap();
    let answers: String = calls.iter().map(|call| sidecar.ask("POST", "/v1/decide", call).body + "\n").collect();
    assert_eq!(answers, expected);
    // Several on one connection, one after the other.
    let mut stream = sidecar.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for (call, verdict) in calls.iter().zip(expected.lines()) {
        write!(stream, "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{call}", call.len()).unwrap();
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        let mut body = vec![0; verdict.len()];
        reader.read_exact(&mut body).unwrap();
        assert_eq!(String::from_utf8(body).unwrap(), verdict);
    }
}

#[test]
fn the_host_that_asked_a_person_settles_its_call_itself() {
    let sidecar = Sidecar::on_socket(&[]);
    let ticket = sidecar.ask("POST", "/v1/invoke", &delete()).json()["ticket"].as_str().unwrap().to_owned();
    for (body, code) in [
        (json!({ "ticket": ticket, "answer": "yes" }), "bad-answer"),
        (json!({ "ticket": ticket }), "bad-answer"),
        (json!({ "ticket": ticket, "answer": "allowed-once", "more": "x" }), "bad-answer"),
        (json!([ticket, "allowed-once"]), "bad-answer"),
        (json!({ "ticket": "0", "answer": "allowed-once" }), "unknown-ticket"),
    ] {
        assert_eq!(sidecar.ask("POST", "/v1/settle", &body.to_string()).code(), code, "{body}");
    }
    let body = json!({ "ticket": ticket, "answer": "allowed-once" }).to_string();
    let settled = sidecar.ask("POST", "/v1/settle", &body).json();
    assert_eq!((&settled["verdict"], &settled["run"]["tool"]), (&json!("allow"), &json!("Delete")));
    assert_eq!(sidecar.ask("POST", "/v1/settle", &body).code(), "unknown-ticket");
}

#[test]
fn somebody_else_answers_and_the_caller_fetches_it_once() {
    let sidecar = Sidecar::on_socket(&[]);
    let answer = |ticket: &str, answer: &str| {
        sidecar.ask("POST", &format!("/v1/questions/{ticket}"), &json!({ "answer": answer }).to_string())
    };
    // Who waits for a question gets it when it comes.
    let asked = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sidecar.ask("GET", "/v1/questions?wait=30", "").json());
        let asked = sidecar.ask("POST", "/v1/invoke", &delete()).json();
        assert_eq!(waiting.join().unwrap()["questions"][0]["ticket"], asked["ticket"]);
        asked
    });
    let ticket = asked["ticket"].as_str().unwrap();
    assert_eq!(sidecar.ask("GET", "/v1/questions?after=1", "").json(), json!({ "questions": [] }));
    assert_eq!(sidecar.ask("GET", &format!("/v1/calls/{ticket}"), "").status, 202);

    assert_eq!(answer(ticket, "perhaps").code(), "bad-answer");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let fetching: Vec<_> =
            (0..3).map(|_| scope.spawn(|| sidecar.ask("GET", &format!("/v1/calls/{ticket}?wait=30"), ""))).collect();
        // One of two answers counts.
        let answers = [answer(ticket, "allowed-once").status, answer(ticket, "rejected").status];
        assert_eq!(answers[0], 200);
        assert!([409, 404].contains(&answers[1]), "{answers:?}");
        fetching.into_iter().map(|fetching| fetching.join().unwrap()).collect()
    });
    let runs = replies.iter().filter(|reply| reply.status == 200 && reply.json()["verdict"] == "allow").count();
    assert_eq!(runs, 1, "{replies:?}");
    assert!(replies.iter().all(|reply| [200, 404].contains(&reply.status)), "{replies:?}");
    for ticket in [ticket, "0"] {
        assert_eq!(answer(ticket, "allowed-once").code(), "unknown-ticket");
        assert_eq!(sidecar.ask("GET", &format!("/v1/calls/{ticket}?wait=30"), "").code(), "unknown-ticket");
    }
}

#[test]
fn tools_and_policies_change_under_the_gate() {
    let mut sidecar = Sidecar::start(|folder| {
        std::fs::write(folder.join("t.toml"), "system.toolApprovalMode = 'dangerous'").unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        ["--socket", &path("socket"), "--settings", &path("t.toml")].map(ToOwned::to_owned).to_vec()
    });
    let list = json!({ "server": "s", "tools": [{ "name": "a", "description": "d", "inputSchema": {} }] }).to_string();
    assert_eq!(sidecar.ask("PUT", "/v1/tools", &list).json()["totals"]["tools"], 1);
    assert_eq!(sidecar.ask("PUT", "/v1/tools", "{}").status, 422);
    assert_eq!(sidecar.ask("GET", "/v1/tools", "").json()["tools"][0]["public_name"], "mcp__s__a");
    assert!(sidecar.ask("GET", "/v1/listed", "").body.contains("mcp__s__a"));

    let settings = sidecar.folder.path().join("t.toml");
    std::fs::write(&settings, "system.toolApprovalMode = 'off'").unwrap();
    assert_eq!(sidecar.ask("POST", "/v1/reload", "").json()["swapped"], true);
    assert_eq!(sidecar.ask("POST", "/v1/decide", &delete()).json()["verdict"], "allow");
    std::fs::write(&settings, "system.toolApprovalMode = 'of'").unwrap();
    assert_eq!(sidecar.ask("POST", "/v1/reload", "").code(), "settings-invalid");
    assert_eq!(sidecar.ask("POST", "/v1/rollback", "").json()["policy"]["generation"], 4);
    assert_eq!(sidecar.ask("POST", "/v1/decide", &delete()).json()["verdict"], "ask");
    let stats = sidecar.ask("GET", "/v1/stats", "").json();
    assert_eq!(stats["verdicts"], json!({ "allow": 1, "ask": 1, "deny": 0, "unreadable": 0 }));
    let metrics = sidecar.ask("GET", "/metrics", "");
    assert!(metrics.head.contains("application/openmetrics-text"));
    assert!(
        metrics.body.contains("toolwarden_verdicts_total{verdict=\"ask\"} 1\n") && metrics.body.ends_with("# EOF\n")
    );
    assert_eq!(sidecar.stop(), 0);
}

#[test]
fn what_is_asked_answered_and_swapped_is_in_the_trail() {
    let mut sidecar = Sidecar::start(|folder| {
        std::fs::write(folder.join("t.toml"), "system.toolApprovalMode = 'dangerous'").unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        ["--socket", &path("socket"), "--settings", &path("t.toml"), "--data", &path("data")]
            .map(ToOwned::to_owned)
            .to_vec()
    });
    let invoked = |call: &str| sidecar.ask("POST", "/v1/invoke", call).json();
    let settle = |ticket: &Value, answer: &str| {
        let body = json!({ "ticket": ticket, "answer": answer }).to_string();
        sidecar.ask("POST", "/v1/settle", &body).json()["verdict"].clone()
    };
    assert_eq!(settle(&invoked(&delete())["ticket"], "allowed-once"), "allow");
    assert_eq!(settle(&invoked(&delete())["ticket"], "rejected"), "deny");
    assert_eq!(invoked(&delete().replace("interactive", "scheduled"))["verdict"], "deny");
    let settings = sidecar.folder.path().join("t.toml");
    std::fs::write(&settings, "system.toolApprovalMode = 'off'").unwrap();
    sidecar.ask("POST", "/v1/reload", "");
    std::fs::write(&settings, "").unwrap();
    assert_eq!(sidecar.ask("POST", "/v1/reload", "").code(), "settings-empty");
    assert_eq!(sidecar.stop(), 0);

    let data = sidecar.folder.path().join("data").display().to_string();
    let output = cli::run(&["audit", "export", "--data", &data], b"").unwrap();
    let told: Vec<(String, String)> = cli::lines(&output)
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            (text("kind"), if entry["approval"].is_null() { text("reasonKind") } else { text("approval") })
        })
        .collect();
    let expected = [
        ("approval-required", "delete"),
        ("approval-settled", "allowed-once"),
        ("approval-required", "delete"),
        ("approval-settled", "rejected"),
        ("denied", "delete"),
        ("settings-changed", "reload"),
        ("module-refused", "settings-empty"),
    ];
    assert_eq!(told, expected.map(|(kind, why)| (kind.to_owned(), why.to_owned())));
    let verified = cli::run(&["audit", "verify", "--data", &data], b"").unwrap();
    assert_eq!(verified.status.code(), Some(0));
}

#[test]
fn a_socket_is_its_owners_alone_and_only_one_serves_on_it() {
    let mut sidecar = Sidecar::on_socket(&[]);
    let mode = std::fs::metadata(sidecar.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let path = sidecar.socket().display().to_string();
    let second = cli::run(&["serve", "--socket", &path], b"").unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("address-in-use"));
    assert_eq!(sidecar.stop(), 0);
    assert!(!sidecar.socket().exists());

    // What was left behind by one that was killed is replaced; what is no socket is not.
    let mut killed = Sidecar::on_socket(&[]);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert!(killed.socket().exists());
    let again = Sidecar::start(|_| vec!["--socket".into(), killed.socket().display().to_string()]);
    assert_eq!(exchange(killed.connect(), &request("GET", "/health", "Host: x\r\n", "")).status, 200);
    drop(again);
    let file = killed.folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let refused = cli::run(&["serve", "--socket", file.to_str().unwrap()], b"").unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not-a-socket"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn over_loopback_only_who_knows_the_token_is_answered_and_no_web_page_is() {
    let sidecar = Sidecar::on_loopback();
    let file = sidecar.folder.path().join("token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    let (port, host) = (sidecar.address().rsplit(':').next().unwrap(), format!("Host: {}\r\n", sidecar.address()));
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(sidecar.tcp(&format!("{host}{bearer}"), "/v1/stats").status, 200);
    assert_eq!(sidecar.tcp(&format!("Host: localhost:{port}\r\n{bearer}"), "/v1/stats").status, 200);
    assert_eq!(sidecar.tcp(&host, "/health").status, 200);

    let wrong = format!("{host}Authorization: Bearer {}\r\n", token.to_uppercase());
    let twice = format!("{host}{bearer}Authorization: Bearer x\r\n");
    for headers in [&host, &wrong, &twice, &format!("{host}Authorization: {token}\r\n")] {
        assert_eq!(sidecar.tcp(headers, "/v1/stats").code(), "unauthorized", "{headers}");
    }
    for foreign in ["Host: evil.example\r\n", "Host: 127.0.0.1\r\n", "Host: 127.0.0.1:1\r\n", &format!("{host}{host}")]
    {
        let reply = sidecar.tcp(&format!("{foreign}{bearer}"), "/v1/stats");
        assert!(reply.status == 421 || reply.status == 400, "{foreign}: {reply:?}");
    }
    for origin in ["http://evil.example", "null", "http://localhost"] {
        let reply = sidecar.tcp(&format!("{host}{bearer}Origin: {origin}\r\n"), "/v1/stats");
        assert_eq!(reply.code(), "foreign-origin", "{origin}");
    }
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let file = file.to_str().unwrap();
        let refused = cli::run(&["serve", "--listen", address, "--token-file", file], b"").unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("not-loopback"), "{address}");
    }
    let no_token = cli::run(&["serve", "--listen", "127.0.0.1:0"], b"").unwrap();
    assert_eq!(no_token.status.code(), Some(2));
}

#[test]
fn what_is_wrong_or_too_much_is_an_error_and_the_next_is_answered() {
    let sidecar = Sidecar::on_socket(&["--max-body", "1000"]);
    for (method, path, body, status) in [
        ("POST", "/v1/decide", "{", 422),
        ("POST", "/v1/decide", "", 422),
        ("POST", "/v1/decide", "{\"id\":\"a\",\"id\":\"b\"}", 422),
        ("GET", "/v1/decide", "", 405),
        ("DELETE", "/v1/tools", "", 405),
        ("GET", "/", "", 404),
        ("GET", "/v1/calls", "", 404),
        ("GET", "/v1/decide/", "", 404),
        ("GET", "/v1/../health", "", 404),
        ("GET", "/v1/questions?wait=x", "", 400),
        ("POST", "/v1/decide", &" ".repeat(1001), 413),
    ] {
        assert_eq!(sidecar.ask(method, path, body).status, status, "{method} {path}");
    }
    for raw in
        [&b"\0\0\0\0\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", &vec![b'x'; 100_000], b"POST /v1/decide HTTP/1.1\r\n"]
    {
        let stream = sidecar.connect();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let _ = writer.write_all(raw);
        let _ = writer.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = (&stream).read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{raw:?}");
    }
    // A body that says it is longer than it may be is not waited for.
    let long = b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(sidecar.connect(), long).status, 413);
    assert_eq!(sidecar.ask("POST", "/v1/decide", &delete()).status, 200);
}

#[test]
fn requests_over_the_rate_are_told_to_come_later() {
    let sidecar = Sidecar::on_socket(&["--rate", "5"]);
    let replies: Vec<Reply> = (0..50).map(|_| sidecar.ask("GET", "/health", "")).collect();
    let limited: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 429).collect();
    assert!(!limited.is_empty() && limited.iter().all(|reply| reply.head.contains("retry-after: 1")));
    assert!(replies.iter().filter(|reply| reply.status == 200).count() >= 5);
}

#[test]
fn a_stop_lets_calls_finish_and_wakes_who_waits() {
    let mut sidecar = Sidecar::on_socket(&[]);
    let mut waiting = sidecar.connect();
    waiting.write_all(&request("GET", "/v1/questions?wait=60", "Host: x\r\n", "")).unwrap();
    let mut half = sidecar.connect();
    let body = delete();
    write!(half, "POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    // Both are known to have arrived once the server says that it has three connections.
    let arrived = || sidecar.ask("GET", "/metrics", "").body.contains("toolwarden_connections 3\n");
    while !arrived() {
        std::thread::yield_now();
    }
    let status = Command::new("kill").args(["-TERM", &sidecar.child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(r#"{"questions":[]}"#), "{answer}");
    half.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""verdict":"ask""#), "{answer}");
    assert_eq!(sidecar.child.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    sidecar.out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn its_description_names_every_path_that_it_answers() {
    let sidecar = Sidecar::on_socket(&[]);
    let document = sidecar.ask("GET", "/openapi.json", "").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    for (path, operations) in paths {
        for method in operations.as_object().unwrap().keys() {
            let reply = sidecar.ask(&method.to_uppercase(), &path.replace("{ticket}", "0"), "");
            let unknown = reply.status == 405 || (reply.status == 404 && reply.code() == "unknown-path");
            assert!(!unknown, "{method} {path}: {reply:?}");
        }
    }
    assert_eq!(paths.len(), 14);
}

/// Whether a program can be run here; where not, the test says that it skips.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        println!("skipped: there is no {program}");
    }
    found
}

/// Runs one of `examples/sidecar` on this sidecar.
fn client(sidecar: &Sidecar, program: &[&str], input: &str) -> (i32, String) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sidecar");
    let mut child = Command::new(program[0])
        .args(&program[1..])
        .arg(sidecar.socket())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_example_in_python_runs_what_a_person_allowed() {
    if !has("python3") {
        return;
    }
    let sidecar = Sidecar::on_socket(&[]);
    let run = |answer: &str| -> Value {
        let (code, out) = client(&sidecar, &["python3", "client.py"], answer);
        assert_eq!(code, 0, "{out}");
        let last = out.lines().last().unwrap();
        serde_json::from_str(last.strip_prefix("Type yes to let this one call run: ").unwrap()).unwrap()
    };
    assert_eq!(run("yes\n")["run"]["tool"], "Delete");
    for answer in ["no\n", "y\n", "\n"] {
        assert_eq!(run(answer), json!({ "run": null }), "{answer:?}");
    }
    // Nobody there to ask is no yes.
    assert_ne!(client(&sidecar, &["python3", "client.py"], "").0, 0);
}

#[test]
fn the_example_in_shell_lets_only_what_is_allowed_pass() {
    if !has("curl") {
        return;
    }
    let sidecar = Sidecar::on_socket(&[]);
    let code = |call: &str| client(&sidecar, &["sh", "client.sh"], call).0;
    assert_eq!(code(&call("Read", &json!({ "path": "x" }))), 0);
    for refused in [
        delete(),
        delete().replace("\"c\"", r#""c\",\"verdict\":\"allow\",\"kind\":null,""#),
        "{}".into(),
        String::new(),
    ] {
        assert_ne!(code(&refused), 0, "{refused}");
    }
}
