//! A list of tools, before any policy looked at it.

use serde_json::Value;

use super::import::{ImportError, Servers};
use super::{bridge, builtin, estimate_tokens};
use crate::call::{DefinitionTrust, Origin, ServerName, ToolRef, public_name};

/// A tool: which one, and its whole definition as its origin sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Which tool.
    pub tool: ToolRef,
    /// How its definition compares with the baseline.
    pub trust: DefinitionTrust,
    /// Estimated tokens of the definition.
    pub tokens: u32,
    /// The definition.
    pub definition: Value,
    /// The definition as compact JSON.
    pub(crate) text: String,
}

impl Tool {
    /// A tool from its definition. The public name follows from the origin.
    #[must_use]
    pub fn new(origin: Origin, server: Option<ServerName>, name: &str, definition: Value) -> Self {
        let public_name = match (&server, origin) {
            (Some(server), Origin::Mcp) => public_name(server, name),
            _ => name.into(),
        };
        let text = definition.to_string();
        Self {
            tool: ToolRef { origin, server, name: name.into(), public_name },
            trust: DefinitionTrust::default(),
            tokens: estimate_tokens(&text),
            definition,
            text,
        }
    }

    /// A text of the definition; empty where it has none.
    pub(crate) fn text_of(&self, member: &str) -> &str {
        self.definition.get(member).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A list of tools.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub(super) tools: Vec<Tool>,
}

impl Catalogue {
    /// The agent's own tools and the bridge tools.
    #[must_use]
    pub fn builtin() -> Self {
        let named = |origin: Origin| {
            move |definition: Value| {
                let name = definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                Tool::new(origin, None, &name, definition)
            }
        };
        let core = builtin::definitions().into_iter().map(named(Origin::Core));
        let bridge = bridge::definitions().into_iter().map(named(Origin::Bridge));
        Self { tools: core.chain(bridge).collect() }
    }

    /// The agent's own tools, the bridge tools, and those of these servers.
    ///
    /// # Errors
    ///
    /// [`ImportError`] where two tools of different servers would have one public name.
    pub fn with_servers(servers: Servers) -> Result<Self, ImportError> {
        let mut catalogue = Self::builtin();
        catalogue.tools.extend(servers.into_tools()?);
        Ok(catalogue)
    }

    /// Adds one tool.
    #[must_use]
    pub fn with(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// The tools in their order.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }
}
