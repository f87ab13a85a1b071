//! The bridge tools, through which the model reaches deferred tools.

use serde_json::{Value, json};

/// Finds deferred tools by words.
pub const TOOL_SEARCH: &str = "tool_search";
/// Tells a deferred tool's whole definition.
pub const TOOL_DESCRIBE: &str = "tool_describe";
/// Runs a deferred tool.
pub const TOOL_INVOKE: &str = "tool_invoke";

/// Definitions of the bridge tools.
pub(super) fn definitions() -> [Value; 3] {
    [
        json!({
            "name": TOOL_SEARCH,
            "description": "Finds tools that are available but not shown up front. Give a few words about what you want to do; \
                the answer lists the names of matching tools and one line about each.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "a few words, or a tool's name" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 10 },
                },
                "required": ["query"],
                "additionalProperties": false,
            },
        }),
        json!({
            "name": TOOL_DESCRIBE,
            "description": "Tells the whole definition of a tool that tool_search found. Read it before you call the tool.",
            "inputSchema": {
                "type": "object",
                "properties": { "name": { "type": "string", "description": "the tool's name as tool_search gave it" } },
                "required": ["name"],
                "additionalProperties": false,
            },
        }),
        json!({
            "name": TOOL_INVOKE,
            "description": "Runs a tool that tool_search found, with arguments that fit the schema that tool_describe told.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "the tool's name as tool_search gave it" },
                    "arguments": { "type": "object", "description": "the tool's own arguments" },
                },
                "required": ["name", "arguments"],
                "additionalProperties": false,
            },
        }),
    ]
}
