//! `toolwarden.toml`: one file, the same keys as TOML or JSON.
//!
//! Unknown keys, unknown values and wrong types are errors that name the key, the value and what is allowed. The host reads
//! its own sections, and of the policy's those that its floors need; the policy module reads the policy's in full.

mod file;
mod release;

use std::fmt::Display;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::baseline::{Scope, Tolerance};
use crate::invoke::Floors;
use crate::module::{Isolation, Limits, Wasi};
use toolwarden_text::clip;

use file::{CwdPolicy, File, IsolationWord, McpMode, misshapen};

pub use file::{Probe, Transport};
pub use release::{Provenance, ReleaseSettings, TrialSettings};

/// Bytes of a settings file at most.
const LARGEST: u64 = 4 << 20;

/// Why settings are not taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{place}: {problem}")]
pub struct SettingsError {
    /// The file, and the key or line where there is one.
    pub place: String,
    /// What is wrong, naming the value and what is allowed.
    pub problem: String,
}

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// Valid settings of the host, and those of the policy module as it will be given them. The default is everything off.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The file that they were read from, where they were.
    pub file: Option<PathBuf>,
    /// The floors that hold for every module.
    pub floors: Floors,
    /// What a module may use. Source: `module.memoryMiB`, `module.deadlineMs`, `module.isolation`,
    /// `module.allowInertWasi`.
    pub limits: Limits,
    /// The policy module's file; none for the default module. Source: `module.path`.
    pub module_path: Option<PathBuf>,
    /// What a policy module must bring before it is put in force.
    pub release: ReleaseSettings,
    /// How long a person has to answer. Default: 5 minutes. Source: `approval.timeoutMs`.
    pub approval_timeout: Duration,
    /// Probes of MCP servers. Source: `mcpSecurity.probe`.
    pub probes: Vec<Probe>,
    /// How far drift of a definition reaches. Default: the catalogue. Source: `mcpSecurity.scope`.
    pub drift_scope: Scope,
    /// Which drift carries over by itself. Default: none. Source: `mcpSecurity.carryOver`.
    pub drift_tolerance: Tolerance,
    /// Whether a failed probe leaves the word to the registry's comparison. Default: no. Source: `mcpSecurity.probeFailOpen`.
    pub probe_fail_open: bool,
    /// The policy's sections.
    policy: Map<String, Value>,
    /// Whether the text that they were read from has no key at all.
    blank: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_file(File::default(), Path::new(""))
    }
}

impl Settings {
    /// Reads a file; what ends in `.json` is JSON, anything else TOML. A relative `module.path` starts at the file's folder.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] that names the file and the place in it.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        let fail =
            |problem: &dyn Display| SettingsError { place: path.display().to_string(), problem: problem.to_string() };
        // A device or pipe may have no end.
        if !std::fs::metadata(path).map_err(|e| fail(&e))?.is_file() {
            return Err(fail(&"it is not a regular file"));
        }
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|e| fail(&e))?;
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(|e| fail(&e))?;
        if text.len() as u64 > LARGEST {
            return Err(fail(&format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        let format =
            if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) { Format::Json } else { Format::Toml };
        let folder = path.parent().unwrap_or(Path::new(""));
        let settings = Self::parse(&text, format, folder).map_err(|error| fail(&error))?;
        Ok(Self { file: Some(path.into()), ..settings })
    }

    /// Reads a text. A relative `module.path` starts at this folder.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] that names the place.
    ///
    /// ```
    /// use std::path::Path;
    /// use toolwarden::settings::{Format, Settings};
    ///
    /// let text = "[system]\nbashCwdPolicy = 'workspace'";
    /// let error = Settings::parse(text, Format::Toml, Path::new("")).unwrap_err();
    /// assert!(error.to_string().contains("system.bashCwdPolicy"), "{error}");
    /// assert!(error.to_string().contains("`workspace-only`"), "{error}");
    /// ```
    pub fn parse(text: &str, format: Format, folder: &Path) -> Result<Self, SettingsError> {
        let wrong = |place: &str, problem: &dyn Display| SettingsError {
            place: clip(&key(place), 200).into_owned(),
            problem: clip(&problem.to_string(), 400).into_owned(),
        };
        let blank;
        let file = match format {
            Format::Toml => {
                let table: toml::Table = text.parse().map_err(|e| toml_error(text, None, &e))?;
                blank = table.is_empty();
                if let Some(place) = misshapen(&serde_json::to_value(table).unwrap_or_default()) {
                    return Err(wrong(&place, &"a table is expected here"));
                }
                let deserializer = toml::Deserializer::parse(text).map_err(|e| toml_error(text, None, &e))?;
                serde_path_to_error::deserialize::<_, File>(deserializer)
                    .map_err(|e| toml_error(text, Some(e.path().to_string()), e.inner()))?
            }
            Format::Json => {
                let value = toolwarden_json::parse(text.as_bytes()).map_err(|e| wrong(".", &e))?;
                blank = value.as_object().is_some_and(Map::is_empty);
                if let Some(place) = null(&value, String::new()) {
                    return Err(wrong(&place, &"unknown value `null`"));
                }
                if let Some(place) = misshapen(&value) {
                    return Err(wrong(&place, &"a table is expected here"));
                }
                match serde_path_to_error::deserialize::<_, File>(value) {
                    Ok(file) => file,
                    Err(error) => return Err(wrong(&error.path().to_string(), error.inner())),
                }
            }
        };
        match file.problem() {
            Some((place, problem)) => Err(wrong(&place, &problem)),
            None => Ok(Self { blank, ..Self::from_file(file, folder) }),
        }
    }

    fn from_file(file: File, folder: &Path) -> Self {
        let module = file.module;
        let release = ReleaseSettings::from_file(&module, folder);
        let defaults = Limits::default();
        let isolation = match module.isolation {
            IsolationWord::Pooled => Isolation::Pooled,
            IsolationWord::PerCall => Isolation::PerCall,
        };
        let mut policy = Map::new();
        if let Value::Object(system) = serde_json::to_value(&file.system).unwrap_or_default() {
            policy.insert("system".into(), system.into());
        }
        for (section, value) in [("deferral", file.deferral), ("rules", file.rules)] {
            policy.extend(value.map(|value| (section.to_owned(), value)));
        }
        if file.mcp_security.mode != McpMode::Off {
            policy.insert("mcpSecurity".into(), serde_json::json!({ "mode": "enforce" }));
        }
        if let Some(settings) = module.settings {
            policy.insert("module".into(), serde_json::json!({ "settings": settings }));
        }
        Self {
            file: None,
            floors: Floors {
                cwd_locked: file.system.bash_cwd_policy == Some(CwdPolicy::WorkspaceOnly),
                mcp_enforced: file.mcp_security.mode == McpMode::Enforce,
            },
            limits: Limits {
                memory: module.memory_mib.map_or(defaults.memory, |mib| usize::from(mib.0) << 20),
                deadline: module.deadline_ms.map_or(defaults.deadline, |ms| Duration::from_millis(ms.0)),
                isolation,
                wasi: if module.allow_inert_wasi { Wasi::Inert } else { Wasi::Refused },
                ..defaults
            },
            module_path: module.path.as_ref().map(|path| folder.join(path)),
            release,
            approval_timeout: file.approval.timeout_ms.map_or(Duration::from_mins(5), |ms| Duration::from_millis(ms.0)),
            probes: file.mcp_security.probe,
            drift_scope: file.mcp_security.scope,
            drift_tolerance: file.mcp_security.carry_over,
            probe_fail_open: file.mcp_security.probe_fail_open,
            policy,
            blank: false,
        }
    }

    /// Whether they were read from a text without any key: an empty file, say, or what is left of one.
    #[must_use]
    pub const fn is_blank(&self) -> bool {
        self.blank
    }

    /// Turns `system.toolApprovalMode = "dangerous"` on.
    pub fn make_dangerous(&mut self) {
        self.set_system("toolApprovalMode", "dangerous");
    }

    /// Turns `system.bashCwdPolicy = "workspace-only"` on.
    pub fn lock_cwd(&mut self) {
        self.set_system("bashCwdPolicy", "workspace-only");
        self.floors.cwd_locked = true;
    }

    fn set_system(&mut self, key: &str, value: &str) {
        let system = self.policy.entry("system").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(system) = system {
            system.insert(key.into(), value.into());
        }
    }

    /// How many `[[rules]]` there are.
    #[must_use]
    pub fn rules(&self) -> usize {
        self.policy.get("rules").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// One of the `[[rules]]`; nothing where there are not so many.
    #[must_use]
    pub fn rule(&self, index: usize) -> Option<&Value> {
        self.policy.get("rules")?.as_array()?.get(index)
    }

    /// The same settings without one of the `[[rules]]`.
    #[must_use]
    pub fn without_rule(&self, index: usize) -> Self {
        let mut settings = self.clone();
        if let Some(Value::Array(rules)) = settings.policy.get_mut("rules")
            && index < rules.len()
        {
            rules.remove(index);
        }
        settings
    }

    /// The policy's sections as JSON text: what a module's `configure` is given.
    #[must_use]
    pub fn policy_json(&self) -> String {
        Value::Object(self.policy.clone()).to_string()
    }
}

/// The first null. A key whose value is nothing was meant to say something, so it is no silent default.
fn null(value: &Value, at: String) -> Option<String> {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match value {
        Value::Null => Some(if at.is_empty() { ".".into() } else { at }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| null(item, below(&index.to_string()))),
        Value::Object(map) => map.iter().find_map(|(key, value)| null(value, below(key))),
        _ => None,
    }
}

fn key(path: &str) -> String {
    if path == "." { "the text".into() } else { format!("`{path}`") }
}

fn toml_error(text: &str, path: Option<String>, error: &toml::de::Error) -> SettingsError {
    let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let place = match (path.map(|path| key(&path)), line) {
        (Some(key), Some(line)) => format!("line {line}, {key}"),
        (Some(key), None) => key,
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "the text".into(),
    };
    SettingsError { place: clip(&place, 200).into_owned(), problem: clip(error.message(), 400).into_owned() }
}
