//! The `mcpServers` file.

use serde_json::{Value, json};
use toolwarden::mcp::config::{Environment, McpConfig, Transport};

fn environment() -> Environment {
    [("TOKEN", "t0ken-value"), ("HOME", "/home/u"), ("PATH", "/bin"), ("OTHER", "x")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect()
}

fn parse(text: &str) -> Result<McpConfig, String> {
    McpConfig::parse(".mcp.json", text.as_bytes(), &environment())
        .map_err(|error| format!("{} {}: {error}", error.code.as_str(), error.key))
}

fn one(entry: &Value) -> Result<McpConfig, String> {
    parse(&json!({"mcpServers": {"s": entry}}).to_string())
}

#[test]
fn a_file_of_another_client_is_read() {
    let config = parse(
        r#"{
            "$schema": "x", "theme": "dark",
            "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "server", "${HOME}/docs"], "env": {"KEY": "${TOKEN}"}, "cwd": "${HOME}",
                    "autoApprove": ["read"], "timeout": 60, "description": "d"},
                "web_1": {"type": "http", "url": "https://u:p@H.example:443/${TOKEN}?k=v", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
                "off": {"command": "x", "disabled": true},
                "bare": {"type": "stdio", "command": "x", "disabled": false}
            }
        }"#,
    )
    .unwrap();
    let mut names: Vec<_> = config.servers.iter().map(|server| server.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["bare", "files", "web_1"]);
    assert_eq!(config.disabled[0].as_str(), "off");

    let files = config.server("files").unwrap();
    let Transport::Stdio(stdio) = &files.transport else { panic!("no program") };
    assert_eq!(stdio.args, ["-y", "server", "/home/u/docs"]);
    let env: Vec<_> = stdio
        .program()
        .env
        .iter()
        .map(|(name, value)| (name.to_str().unwrap().to_owned(), value.reveal().to_owned()))
        .collect();
    assert_eq!(
        env,
        [("HOME", "/home/u"), ("KEY", "t0ken-value"), ("PATH", "/bin")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!(
        files.identity.to_value(),
        json!({"transport": "stdio", "command": "npx", "args": ["-y", "server", "${HOME}/docs"], "env": ["KEY"], "cwd": "${HOME}"})
    );
    let web = config.server("web_1").unwrap();
    assert_eq!(
        web.identity.to_value(),
        json!({"transport": "streamable-http", "origin": "https://h.example", "headers": ["authorization"]})
    );
    assert_eq!(web.mask().apply("Bearer t0ken-value"), "[hidden]");
    for server in &config.servers {
        let shown = format!("{server:?} {}", server.identity.to_value());
        assert!(!shown.contains("t0ken-value"), "{shown}");
    }
}

#[test]
fn what_a_variable_held_is_not_shown() {
    let config = one(&json!({"command": "x", "args": ["--token=${TOKEN}", "${HOME}/x", "${NO:-a-default}"]})).unwrap();
    let server = config.server("s").unwrap();
    assert_eq!(
        server.mask().apply("x --token=t0ken-value /home/u/x a-default"),
        "x --token=[hidden] /home/u/x [hidden]"
    );
    assert!(!format!("{server:?} {}", server.identity.to_value()).contains("t0ken-value"));
}

#[test]
fn what_is_wrong_is_named() {
    for (entry, expected) in [
        (json!(7), "wrong-type /mcpServers/s: .mcp.json: `/mcpServers/s`: it must be an object"),
        (json!({}), "missing-key /mcpServers/s: .mcp.json: `/mcpServers/s`: `command` or `url` is missing"),
        (json!({"type": "http"}), "missing-key /mcpServers/s: .mcp.json: `/mcpServers/s`: `url` is missing"),
        (
            json!({"comand": "x"}),
            "unknown-key /mcpServers/s/comand: .mcp.json: `/mcpServers/s/comand`: the key is not known; allowed are `command`, `args`, `env`, `cwd`, `url`, `headers`, `type`, `disabled`",
        ),
        (
            json!({"command": "x", "url": "http://h"}),
            "two-transports /mcpServers/s: .mcp.json: `/mcpServers/s`: keys of a program and of an endpoint stand side by side",
        ),
        (
            json!({"type": "sse", "url": "http://h"}),
            "unsupported-transport /mcpServers/s/type: .mcp.json: `/mcpServers/s/type`: the transport `sse` is not supported; `stdio` and `http` are",
        ),
        (
            json!({"type": 1, "url": "http://h"}),
            "wrong-type /mcpServers/s/type: .mcp.json: `/mcpServers/s/type`: it must be a string",
        ),
        (
            json!({"command": " "}),
            "bad-value /mcpServers/s/command: .mcp.json: `/mcpServers/s/command`: it is empty, or holds NUL",
        ),
        (
            json!({"command": "x", "args": "y"}),
            "wrong-type /mcpServers/s/args: .mcp.json: `/mcpServers/s/args`: it must be a list of strings",
        ),
        (
            json!({"command": "x", "args": ["y", 1]}),
            "wrong-type /mcpServers/s/args/1: .mcp.json: `/mcpServers/s/args/1`: it must be a string",
        ),
        (
            json!({"command": "x", "env": {"A/B": 1}}),
            "wrong-type /mcpServers/s/env/A~1B: .mcp.json: `/mcpServers/s/env/A~1B`: it must be a string",
        ),
        (
            json!({"command": "x", "env": {"A=B": "1"}}),
            "bad-value /mcpServers/s/env/A=B: .mcp.json: `/mcpServers/s/env/A=B`: this is no name of a variable",
        ),
        (
            json!({"command": "x", "env": {"A": "${NO}"}}),
            "unset-variable /mcpServers/s/env/A: .mcp.json: `/mcpServers/s/env/A`: the variable `NO` is not set",
        ),
        (
            json!({"command": "x", "disabled": "no"}),
            "wrong-type /mcpServers/s/disabled: .mcp.json: `/mcpServers/s/disabled`: it must be true or false",
        ),
        (
            json!({"url": "ftp://h/s3cret"}),
            "bad-value /mcpServers/s/url: .mcp.json: `/mcpServers/s/url`: the scheme must be `http` or `https`",
        ),
        (
            json!({"url": "http://h", "headers": {"a b": "x"}}),
            "bad-value /mcpServers/s/headers/a b: .mcp.json: `/mcpServers/s/headers/a b`: this is no name of a header",
        ),
        (
            json!({"url": "http://h", "headers": {"A": "s3cret\n"}}),
            "bad-value /mcpServers/s/headers/A: .mcp.json: `/mcpServers/s/headers/A`: the value holds what a header cannot hold",
        ),
        (
            json!({"url": "http://h", "headers": {"Mcp-Session-Id": "x"}}),
            "reserved-header /mcpServers/s/headers/Mcp-Session-Id: .mcp.json: `/mcpServers/s/headers/Mcp-Session-Id`: the protocol sets this header itself",
        ),
        (
            json!({"url": "http://h", "headers": {"X": "1", "x": "2"}}),
            "bad-value /mcpServers/s/headers/x: .mcp.json: `/mcpServers/s/headers/x`: the header stands there twice",
        ),
    ] {
        assert_eq!(one(&entry).unwrap_err(), expected);
    }
    for (text, expected) in [
        ("{", "not-json"),
        (r#"{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}"#, "duplicate-key /mcpServers/a"),
        ("{}", "no-servers : .mcp.json: the file must be"),
        (r#"{"mcpServers":[]}"#, "no-servers"),
        (r#"{"mcpServers":{"a b":{"command":"x"}}}"#, "bad-server-name /mcpServers/a b"),
        (r#"{"mcpServers":{"":{"command":"x"}}}"#, "bad-server-name"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(parse(r#"{"mcpServers":{}}"#).unwrap().servers, []);
}
