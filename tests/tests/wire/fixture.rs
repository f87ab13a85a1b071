//! What the tests share.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolwarden::mcp::config::{Environment, McpConfig, ServerConfig};
use toolwarden::mcp::{ClientProfile, ConnectOptions, Ending, Era, Opened};

/// The scripted server's program.
pub const SCRIPTED: &str = env!("CARGO_BIN_EXE_scripted-mcp");

/// So long that only a fault reaches it.
pub const LONG: Duration = Duration::from_mins(1);

pub fn soon() -> Instant {
    Instant::now() + LONG
}

pub fn in_ms(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}

pub fn options() -> ConnectOptions {
    ConnectOptions::new(ClientProfile::new("test", "1"))
}

pub fn quick() -> Ending {
    Ending { after_close: Duration::from_millis(50), after_term: Duration::from_millis(50) }
}

pub fn server(entry: &Value) -> ServerConfig {
    let text = json!({"mcpServers": {"s": entry}}).to_string();
    let config = McpConfig::parse("test.json", text.as_bytes(), &Environment::of_process()).expect("a good entry");
    config.servers.into_iter().next().expect("one server")
}

pub fn scripted(habits: &[&str]) -> ServerConfig {
    server(&json!({"command": SCRIPTED, "args": habits}))
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => panic!("no object"),
    }
}

/// What the scripted server says of itself.
pub fn expected(era: Era) -> Opened {
    let info = json!({"name": "scripted", "version": "1"});
    let (version, capabilities, raw) = match era {
        Era::Modern => (
            "2026-07-28",
            json!({"tools": {}}),
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "instructions": "be nice", "_meta": {"io.modelcontextprotocol/serverInfo": info}}),
        ),
        Era::Legacy => (
            "2025-11-25",
            json!({"tools": {"listChanged": true}}),
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}}, "serverInfo": info,
                "instructions": "be nice"}),
        ),
    };
    Opened {
        era,
        version: version.to_owned(),
        server_info: info,
        capabilities: object(capabilities),
        instructions: Some("be nice".to_owned()),
        raw,
    }
}

pub fn tool(page: usize) -> Value {
    json!({"name": format!("tool_{page}"), "description": "a tool", "inputSchema": {"type": "object"}, "new": {"n": 1.5}})
}
