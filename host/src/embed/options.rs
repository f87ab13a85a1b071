//! What a warden is opened with.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::EmbedError;
use crate::invoke::FactSource;
use crate::lifecycle::Origin;
use crate::module::CachePolicy;
use crate::registry::{Catalogue, Servers};
use crate::settings::{Format, Settings, SettingsError};

/// The options as they come. None of them is required: a warden without any has everything off.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Options {
    /// Settings, the keys of `toolwarden.toml`.
    settings: Option<Value>,
    /// A file of settings; it may be read again.
    settings_file: Option<PathBuf>,
    /// Short for settings.
    profile: Option<Profile>,
    /// A policy module's file, in the place of the settings' one.
    module: Option<PathBuf>,
    /// Tool lists of MCP servers.
    tools: Option<Value>,
    /// The model's context window in tokens. Default: 0, not known.
    pub context_window: u64,
    /// Whether `decide` follows links on this machine. Default: no, the record's facts count.
    resolve: bool,
    /// Whether files are watched, and SIGHUP is heeded. Default: no.
    pub watch: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    Dangerous,
    Locked,
}

impl Options {
    pub fn parse(text: &[u8]) -> Result<Self, EmbedError> {
        let wrong = |problem: &dyn std::fmt::Display| EmbedError::new("bad-options", problem);
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        let value = toolwarden_json::parse(text).map_err(|error| wrong(&error))?;
        if !value.is_object() {
            return Err(wrong(&"options are a JSON object"));
        }
        let options: Self = serde_path_to_error::deserialize(value)
            .map_err(|error| wrong(&format!("`{}`: {}", error.path(), error.inner())))?;
        if options.settings.is_some() && options.settings_file.is_some() {
            return Err(wrong(&"`settings` and `settingsFile` are two ways to say one thing"));
        }
        Ok(options)
    }

    /// Where the settings come from, each time anew.
    pub fn origin(&self) -> Origin {
        let Self { settings, settings_file, profile, module, .. } = self;
        let (settings, file) = (settings.clone(), settings_file.clone());
        let (profile, module) = (*profile, module.clone());
        Origin::new(settings_file.iter().cloned().collect(), move || {
            let mut settings = read(settings.as_ref(), file.as_deref())?;
            if profile.is_some() {
                settings.make_dangerous();
            }
            if matches!(profile, Some(Profile::Locked)) {
                settings.lock_cwd();
            }
            if let Some(module) = &module {
                settings.module_path = Some(module.clone());
            }
            Ok(settings)
        })
    }

    /// The tools.
    pub fn catalogue(&self) -> Result<Catalogue, EmbedError> {
        self.tools.as_ref().map_or_else(|| Ok(Catalogue::builtin()), |tools| catalogue(tools.to_string().as_bytes()))
    }

    /// Where the facts of `decide` come from.
    pub const fn facts(&self) -> FactSource {
        if self.resolve { FactSource::ThisMachine } else { FactSource::Record }
    }
}

/// The agent's own tools, and those of these lists.
pub(super) fn catalogue(lists: &[u8]) -> Result<Catalogue, EmbedError> {
    let servers = Servers::from_json(lists, None).and_then(Catalogue::with_servers);
    servers.map_err(|error| EmbedError::new(error.code, error.message))
}

/// Where compiled modules are kept. Where they cannot be kept, they are compiled anew.
pub(super) fn cache() -> CachePolicy {
    CachePolicy::of_user().unwrap_or(CachePolicy::Off)
}

fn read(settings: Option<&Value>, file: Option<&Path>) -> Result<Settings, SettingsError> {
    match (settings, file) {
        (Some(settings), _) => Settings::parse(&settings.to_string(), Format::Json, Path::new("")),
        (None, Some(file)) => Settings::load(file),
        (None, None) => Ok(Settings::default()),
    }
}
