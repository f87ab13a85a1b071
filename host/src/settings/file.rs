//! The file's sections as they are written.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::baseline::{Scope, Tolerance};
use crate::call::{ServerName, strict};
use crate::module::Digest;
use crate::signature::PublicKey;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub system: System,
    /// Read by the module.
    pub deferral: Option<Value>,
    /// Read by the module.
    pub rules: Option<Value>,
    #[serde(default)]
    pub approval: Approval,
    #[serde(default)]
    pub mcp_security: McpSecurity,
    #[serde(default)]
    pub module: Module,
}

/// What is not written is not handed to the module either, so that it reads little.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct System {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "strict::optional_word")]
    tool_approval_mode: Option<ApprovalMode>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "strict::optional_word")]
    pub bash_cwd_policy: Option<CwdPolicy>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ApprovalMode {
    Off,
    Dangerous,
}

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CwdPolicy {
    Unrestricted,
    WorkspaceOnly,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Approval {
    pub timeout_ms: Option<Whole<1, 86_400_000>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct McpSecurity {
    #[serde(default, deserialize_with = "strict::word")]
    pub mode: McpMode,
    #[serde(default, deserialize_with = "strict::word")]
    pub scope: Scope,
    #[serde(default, deserialize_with = "strict::word")]
    pub carry_over: Tolerance,
    #[serde(default)]
    pub probe_fail_open: bool,
    #[serde(default)]
    pub probe: Vec<Probe>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum McpMode {
    #[default]
    Off,
    Enforce,
}

/// How a probe reaches its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A process of our own.
    Stdio,
    /// A request over HTTP.
    StreamableHttp,
}

/// The probe of one MCP server. Source: `[[mcpSecurity.probe]]`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Probe {
    /// The server.
    #[serde(deserialize_with = "server_name")]
    pub server_name: ServerName,
    /// For the whole probe, in milliseconds, from 200 to 60 000. Default: 4 000.
    #[serde(default = "probe_timeout", deserialize_with = "probe_millis")]
    pub timeout_ms: u64,
    /// How it is reached.
    #[serde(deserialize_with = "strict::word")]
    pub transport: Transport,
    /// The program, for stdio.
    pub command: Option<String>,
    /// Its arguments. Default: none.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment. Values are secrets. Default: none.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The address, for streamable-http. May hold secrets.
    pub url: Option<String>,
    /// Headers of each request. Values are secrets. Default: none.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither values of variables and headers nor the address: they may hold secrets.
        f.debug_struct("Probe")
            .field("server_name", &self.server_name)
            .field("timeout_ms", &self.timeout_ms)
            .field("transport", &self.transport)
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Module {
    pub path: Option<PathBuf>,
    #[serde(default, deserialize_with = "strict::word")]
    pub isolation: IsolationWord,
    #[serde(rename = "memoryMiB")]
    pub memory_mib: Option<MemoryMib>,
    pub deadline_ms: Option<Whole<1, 60_000>>,
    #[serde(default)]
    pub allow_inert_wasi: bool,
    pub settings: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "parsed")]
    pub sha256: Option<Digest>,
    pub signature: Option<PathBuf>,
    #[serde(default, deserialize_with = "all_parsed")]
    pub keys: Vec<PublicKey>,
    #[serde(default)]
    pub vectors: Vec<PathBuf>,
    pub rollback_faults: Option<Whole<0, 100>>,
    pub trial: Option<Trial>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Trial {
    pub path: PathBuf,
    #[serde(default, deserialize_with = "parsed")]
    pub sha256: Option<Digest>,
    pub signature: Option<PathBuf>,
    #[serde(default, deserialize_with = "share")]
    pub sample_rate: Option<f64>,
    pub promote_after: Option<Whole<1, 1_000_000_000>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum IsolationWord {
    #[default]
    Pooled,
    PerCall,
}

/// A whole number in a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole<const LEAST: u64, const MOST: u64>(pub u64);

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        match given.as_u64() {
            Some(number) if (LEAST..=MOST).contains(&number) => Ok(Self(number)),
            _ => Err(D::Error::custom(format!(
                "unknown value `{}`, expected a whole number from {LEAST} to {MOST}",
                toolwarden_text::clip(&given.to_string(), 60)
            ))),
        }
    }
}

/// Memory of a module in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryMib(pub u16);

impl<'de> Deserialize<'de> for MemoryMib {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Whole::<1, 4096>::deserialize(deserializer)?;
        u16::try_from(whole.0).map(Self).map_err(D::Error::custom)
    }
}

const fn probe_timeout() -> u64 {
    4000
}

fn probe_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Whole::<200, 60_000>::deserialize(deserializer).map(|whole| whole.0)
}

fn server_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ServerName, D::Error> {
    ServerName::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(deserializer: D) -> Result<Option<T>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(D::Error::custom)
}

fn all_parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let given = Value::deserialize(deserializer)?;
    let share = given.as_f64().filter(|share| *share > 0.0 && *share <= 1.0);
    share.map(Some).ok_or_else(|| {
        let shown = given.to_string();
        let shown = toolwarden_text::clip(&shown, 60);
        D::Error::custom(format!("unknown value `{shown}`, expected a share above 0 and up to 1"))
    })
}

/// Where a list or word stands in the place of a table, which a derived reader would take: the key. Otherwise nothing.
pub(super) fn misshapen(file: &Value) -> Option<String> {
    let is_table = |value: Option<&Value>| value.is_none_or(Value::is_object);
    if !file.is_object() {
        return Some(".".into());
    }
    let sections = ["system", "approval", "mcpSecurity", "module"];
    if let Some(section) = sections.into_iter().find(|section| !is_table(file.get(section))) {
        return Some(section.into());
    }
    if !is_table(file.pointer("/module/trial")) {
        return Some("module.trial".into());
    }
    let probes = file.pointer("/mcpSecurity/probe").and_then(Value::as_array);
    let odd = probes.into_iter().flatten().position(|probe| !probe.is_object())?;
    Some(format!("mcpSecurity.probe[{odd}]"))
}

impl File {
    /// What no type can say: that a digest is of a file, that a probe knows its server, and is its server's only one.
    pub(super) fn problem(&self) -> Option<(String, String)> {
        self.module_problem().or_else(|| self.probe_problem())
    }

    fn module_problem(&self) -> Option<(String, String)> {
        let module = &self.module;
        let key = match (&module.path, &module.sha256, &module.signature) {
            (None, Some(_), _) => "sha256",
            (None, None, Some(_)) => "signature",
            _ => return None,
        };
        Some((format!("module.{key}"), "there is no `module.path` that it could be of".into()))
    }

    fn probe_problem(&self) -> Option<(String, String)> {
        let probes = &self.mcp_security.probe;
        probes.iter().enumerate().find_map(|(index, probe)| {
            let (missing, present) = match probe.transport {
                Transport::Stdio => ("command", probe.command.is_some()),
                Transport::StreamableHttp => ("url", probe.url.is_some()),
            };
            let name = &probe.server_name;
            let problem = if !present {
                format!("the probe of `{name}` lacks `{missing}`, which says how the server is reached")
            } else if probes.iter().take(index).any(|other| other.server_name == *name) {
                format!("`{name}` has a probe already; a server has one")
            } else {
                return None;
            };
            Some((format!("mcpSecurity.probe[{index}]"), problem))
        })
    }
}
