//! The settings of the default module: typed, with every fault named at once.

mod own;
mod reader;

use std::string::String;
use std::vec::Vec;

use toolwarden_json::{Value, parse};

use crate::glob::Glob;
use crate::rules::{Decision, Rule};
pub use own::Own;
use reader::{Object, Reader};

/// JSON Schema (draft 2020-12) of the settings.
pub const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/schema.json"));

/// One thing wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// JSON pointer to the place.
    pub pointer: String,
    /// What is wrong, naming the value.
    pub problem: String,
    /// What is allowed there.
    pub allowed: String,
}

/// `system.toolApprovalMode`. Default: off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalMode {
    /// No call is gated for what it does.
    #[default]
    Off,
    /// Dangerous calls are gated.
    Dangerous,
}

/// `system.bashCwdPolicy`. Default: unrestricted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwdPolicy {
    /// A shell may start anywhere.
    #[default]
    Unrestricted,
    /// A shell starts inside the workspace or not at all.
    WorkspaceOnly,
}

/// `mcpSecurity.mode`. Default: off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McpSecurity {
    /// MCP tools are judged like others.
    #[default]
    Off,
    /// MCP tools need a matching baseline and a person's word for each call.
    Enforce,
}

/// `deferral.mode`. Default: auto.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeferralMode {
    /// Defer when the candidates are over budget.
    #[default]
    Auto,
    /// Never defer.
    Off,
    /// Defer every candidate.
    Always,
}

/// The `deferral` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deferral {
    pub mode: DeferralMode,
    /// Tokens. Default: 12 000.
    pub max_tokens: u64,
    /// Millionths of the context window. Default: 100 000, a tenth.
    pub max_context_ppm: u64,
    /// Tools. Default: 32.
    pub max_tools: u64,
    pub eager: Vec<Glob>,
    pub defer: Vec<Glob>,
}

impl Default for Deferral {
    fn default() -> Self {
        Self {
            mode: DeferralMode::Auto,
            max_tokens: 12_000,
            max_context_ppm: 100_000,
            max_tools: 32,
            eager: Vec::new(),
            defer: Vec::new(),
        }
    }
}

/// Valid settings. The default is everything off.
///
/// ```
/// use toolwarden_policy::Settings;
///
/// assert!(Settings::from_json(r#"{"system":{"toolApprovalMode":"dangerous"}}"#).is_ok());
/// let issues = Settings::from_json(r#"{"system":{"toolApprovalMode":"on"}}"#).unwrap_err();
/// assert_eq!(issues[0].pointer, "/system/toolApprovalMode");
/// assert_eq!(issues[0].problem, "unknown value `on`");
/// assert_eq!(issues[0].allowed, "`off` or `dangerous`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub(crate) approval_mode: ApprovalMode,
    pub(crate) cwd_policy: CwdPolicy,
    pub(crate) mcp_security: McpSecurity,
    pub(crate) deferral: Deferral,
    pub(crate) rules: Vec<Rule>,
}

impl Settings {
    /// Reads the policy sections of `toolwarden.toml` as JSON.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, section by section.
    pub fn from_json(text: &str) -> Result<Self, Vec<Issue>> {
        let value = parsed(text)?;
        let mut reader = Reader::default();
        let settings = Self::of(&mut reader, &value);
        if let Some(own) = own_value(&value) {
            // The default module has no settings of its own; whoever gives it some meant another module.
            reader.object(Own::AT, own, &[]);
        }
        if reader.issues.is_empty() { Ok(settings) } else { Err(reader.issues) }
    }

    /// [`from_json`](Settings::from_json) for a module of your own: `read` takes what it knows out of `module.settings`. A key
    /// that it does not ask for is one that nobody knows, and an issue like every other.
    ///
    /// ```
    /// use toolwarden_policy::Settings;
    ///
    /// let text = r#"{"system":{"toolApprovalMode":"dangerous"},"module":{"settings":{"nights":true}}}"#;
    /// let (settings, nights) = Settings::with_own(text, |own| own.flag("nights", false)).unwrap();
    /// assert!(nights);
    /// let issues = Settings::with_own(text, |own| own.flag("days", false)).unwrap_err();
    /// assert_eq!(issues[0].pointer, "/module/settings/nights");
    /// ```
    ///
    /// # Errors
    ///
    /// Everything that is wrong, with the default sections and with `module.settings`.
    pub fn with_own<T>(text: &str, read: impl FnOnce(&mut Own) -> T) -> Result<(Self, T), Vec<Issue>> {
        let value = parsed(text)?;
        let mut reader = Reader::default();
        let settings = Self::of(&mut reader, &value);
        let own = Own::read(&mut reader, own_value(&value), read);
        if reader.issues.is_empty() { Ok((settings, own)) } else { Err(reader.issues) }
    }

    /// All sections but `module.settings`.
    fn of(reader: &mut Reader, value: &Value) -> Self {
        let mut settings = Self::default();
        if let Some(top) = reader.object("", value, &["system", "deferral", "rules", "mcpSecurity", "module"]) {
            settings.read(reader, &top);
        }
        settings
    }

    fn read(&mut self, reader: &mut Reader, top: &Object) {
        if let Some(system) = reader.section(top, "system", &["toolApprovalMode", "bashCwdPolicy"]) {
            const MODES: &[(&str, ApprovalMode)] =
                &[("off", ApprovalMode::Off), ("dangerous", ApprovalMode::Dangerous)];
            const POLICIES: &[(&str, CwdPolicy)] =
                &[("unrestricted", CwdPolicy::Unrestricted), ("workspace-only", CwdPolicy::WorkspaceOnly)];
            reader.word(&system, "toolApprovalMode", MODES, &mut self.approval_mode);
            reader.word(&system, "bashCwdPolicy", POLICIES, &mut self.cwd_policy);
        }
        let keys = ["mode", "maxTokens", "maxContextShare", "maxTools", "eager", "defer"];
        if let Some(section) = reader.section(top, "deferral", &keys) {
            const MODES: &[(&str, DeferralMode)] =
                &[("auto", DeferralMode::Auto), ("off", DeferralMode::Off), ("always", DeferralMode::Always)];
            reader.word(&section, "mode", MODES, &mut self.deferral.mode);
            reader.count(&section, "maxTokens", &mut self.deferral.max_tokens);
            reader.share(&section, "maxContextShare", &mut self.deferral.max_context_ppm);
            reader.count(&section, "maxTools", &mut self.deferral.max_tools);
            reader.globs(&section, "eager", &mut self.deferral.eager);
            reader.globs(&section, "defer", &mut self.deferral.defer);
        }
        self.rules = reader.items(top, "rules", read_rule);
        if let Some(section) = reader.section(top, "mcpSecurity", &["mode"]) {
            const MODES: &[(&str, McpSecurity)] = &[("off", McpSecurity::Off), ("enforce", McpSecurity::Enforce)];
            reader.word(&section, "mode", MODES, &mut self.mcp_security);
        }
        reader.section(top, "module", &["settings"]);
    }
}

fn parsed(text: &str) -> Result<Value, Vec<Issue>> {
    parse(text.as_bytes()).map_err(|error| {
        std::vec![Issue {
            pointer: error.pointer.clone(),
            problem: std::format!("cannot be read: {error}"),
            allowed: "one JSON object, each key once".into(),
        }]
    })
}

fn own_value(value: &Value) -> Option<&Value> {
    value.get("module")?.get("settings")
}

fn read_rule(reader: &mut Reader, rule: &Object) -> Option<Rule> {
    const DECISIONS: &[(&str, Option<Decision>)] =
        &[("deny", Some(Decision::Deny)), ("ask", Some(Decision::Ask)), ("allow", Some(Decision::Allow))];
    reader.known(rule, &["tool", "server", "decision"]);
    let mut decision = None;
    reader.required(rule, "decision", "`deny`, `ask` or `allow`");
    reader.word(rule, "decision", DECISIONS, &mut decision);
    reader.required(rule, "tool", "a tool name or a pattern with `*` and `?`");
    let tool = reader.glob(rule, "tool");
    let server = reader.glob(rule, "server");
    Some(Rule { server, tool: tool?, decision: decision? })
}
