//! Tool lists as MCP servers answer them to `tools/list`.

use std::collections::HashMap;

use serde_json::Value;
use thiserror::Error;
use toolwarden_text::clip;

use super::catalogue::Tool;
use crate::call::{Origin, ServerName};

/// Bytes of a raw tool name at most. Source: ours; the longest name among several hundred real tools has 64.
const LONGEST_NAME: usize = 1024;

/// Values in one list at most: what a hundred thousand tools of usual size have.
const MOST_VALUES: usize = 8_000_000;

/// Tools of one list at most. Source: ours; thousandfold what an agent of today has.
const MOST_TOOLS: usize = 100_000;

/// Bytes of one definition as compact JSON at most. Source: ours; the largest among several hundred real tools has 30 KiB, and what
/// is larger than a module's memory would leave nobody with a registry.
const LARGEST_DEFINITION: usize = 1 << 20;

/// Why a tool list was refused, as a whole: half a list is no list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ImportError {
    /// A stable code.
    pub code: &'static str,
    /// What is wrong, naming the place.
    pub message: String,
}

impl ImportError {
    fn new(code: &'static str, message: impl AsRef<str>) -> Self {
        Self { code, message: clip(message.as_ref(), 400).into_owned() }
    }
}

/// The tools of one or more servers.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    tools: Vec<Tool>,
}

impl Servers {
    /// Reads a tool list: `{"server":"...","tools":[...]}`, a JSON-RPC answer with such a `result`, or an array of them.
    /// `server` names the server of lists that do not name theirs.
    ///
    /// # Errors
    ///
    /// [`ImportError`] that names the place.
    pub fn from_json(text: &[u8], server: Option<&ServerName>) -> Result<Self, ImportError> {
        let wrong = |e: toolwarden_json::Error| ImportError::new(e.code.as_str(), e.message);
        let parsed = toolwarden_json::parse_bounded(text, MOST_VALUES).map_err(wrong)?;
        let value = parsed.fault.map_or(Ok(parsed.value), |fault| Err(wrong(fault)))?;
        let mut servers = Self::default();
        match value {
            Value::Array(lists) => lists.into_iter().try_for_each(|list| servers.add(list, server))?,
            list => servers.add(list, server)?,
        }
        Ok(servers)
    }

    /// Adds the tools of other lists.
    pub fn extend(&mut self, other: Self) {
        self.tools.extend(other.tools);
    }

    fn add(&mut self, mut list: Value, server: Option<&ServerName>) -> Result<(), ImportError> {
        if !list.is_object() {
            return Err(ImportError::new("not-a-list", "a tool list is an object with an array `tools`"));
        }
        if let Some(error) = list.get("error") {
            return Err(ImportError::new("server-error", format!("the server answered with an error: {error}")));
        }
        let server_name = list.get("server").cloned();
        if let Some(result) = list.get_mut("result") {
            list = result.take();
        }
        if list.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(ImportError::new(
                "incomplete-list",
                "the list has a `nextCursor`: it is one page of several; put all tools into one list",
            ));
        }
        let named = match list.get("server").or(server_name.as_ref()) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => {
                Some(ServerName::new(name).map_err(|e| ImportError::new("bad-server-name", e.to_string()))?)
            }
            Some(_) => return Err(ImportError::new("wrong-type", "`server` is not a string")),
        };
        let Some(server) = named.as_ref().or(server) else {
            return Err(ImportError::new("no-server-name", "the list does not say which server it is of; name it"));
        };
        let Some(Value::Array(tools)) = list.get_mut("tools").map(Value::take) else {
            return Err(ImportError::new("no-tools", "a tool list is an object with an array `tools`"));
        };
        if self.tools.len() + tools.len() > MOST_TOOLS {
            return Err(ImportError::new("too-many-tools", format!("there are more than {MOST_TOOLS} tools")));
        }
        self.tools.reserve(tools.len());
        for (index, definition) in tools.into_iter().enumerate() {
            self.tools.push(read_tool(server, index, definition)?);
        }
        Ok(())
    }

    /// The tools; none where two have one identity or one public name.
    pub(super) fn into_tools(self) -> Result<Vec<Tool>, ImportError> {
        let mut seen: HashMap<&str, &Tool> = HashMap::with_capacity(self.tools.len());
        for tool in &self.tools {
            let Some(other) = seen.insert(&tool.tool.public_name, tool) else { continue };
            let server = |t: &Tool| t.tool.server.as_ref().map(ToString::to_string).unwrap_or_default();
            let name = clip(&tool.tool.name, 100);
            return Err(if other.tool.name == tool.tool.name && other.tool.server == tool.tool.server {
                ImportError::new("duplicate-tools", format!("server `{}` lists `{name}` twice", server(tool)))
            } else {
                let public = &tool.tool.public_name;
                let (first, second) = (server(other), server(tool));
                ImportError::new(
                    "ambiguous-name",
                    format!("tools of the servers `{first}` and `{second}` would both be called `{public}`"),
                )
            });
        }
        Ok(self.tools)
    }
}

fn read_tool(server: &ServerName, index: usize, definition: Value) -> Result<Tool, ImportError> {
    match definition.get("name") {
        Some(Value::String(name)) if !name.is_empty() && name.len() <= LONGEST_NAME => {
            let name = name.clone();
            let tool = Tool::new(Origin::Mcp, Some(server.clone()), &name, definition);
            if tool.text.len() > LARGEST_DEFINITION {
                let message = format!("`/tools/{index}` has more than {LARGEST_DEFINITION} bytes");
                return Err(ImportError::new("definition-too-large", message));
            }
            Ok(tool)
        }
        Some(Value::String(_)) => Err(ImportError::new(
            "bad-tool-name",
            format!("`/tools/{index}/name` is empty or longer than {LONGEST_NAME} bytes"),
        )),
        _ => Err(ImportError::new("bad-tool-name", format!("`/tools/{index}/name` is not a string"))),
    }
}
