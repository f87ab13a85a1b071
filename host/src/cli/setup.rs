//! What most commands need first: settings, a module, a registry.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::exit::{Exit, Failure};
use super::{events, input};
use crate::audit::AuditLog;
use crate::call::ServerName;
use crate::invoke::Judge;
use crate::lifecycle::{Check, LifecycleSink, ModuleFile, Origin, Recorded, Reloader, ReloaderOptions};
use crate::module::{CachePolicy, Component, ConfigureError, Policy, PolicyModule};
use crate::registry::{Catalogue, Generation, Registry, Servers};
use crate::settings::{Settings, SettingsError};

/// Settings and module.
#[derive(Args, Clone)]
pub(super) struct PolicyArguments {
    /// Settings, as TOML or JSON; without it everything is off
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Short for settings: dangerous turns toolApprovalMode on, locked bashCwdPolicy as well
    #[arg(long, value_enum)]
    pub profile: Option<Profile>,
    /// Policy module to use instead of the settings' one or the built-in one
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
}

/// Short for settings.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Profile {
    /// toolApprovalMode = "dangerous"
    Dangerous,
    /// toolApprovalMode = "dangerous" and bashCwdPolicy = "workspace-only"
    Locked,
}

/// Tool lists.
#[derive(Args, Default)]
pub(super) struct ToolArguments {
    /// Tools besides the built-in ones: an MCP tools/list answer with a server name beside it; may be repeated
    #[arg(long, value_name = "FILE")]
    pub tools: Vec<PathBuf>,
    /// Server of the tool lists that do not name theirs
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub server: Option<ServerName>,
}

impl ToolArguments {
    /// Standard input brings the calls, so it cannot bring a tool list.
    pub fn refuse_stdin(&self) -> Result<(), Failure> {
        if self.tools.iter().any(|file| file.as_os_str() == "-") {
            return Err(Failure::text(Exit::Usage, "--tools - is not possible: standard input is for the calls"));
        }
        Ok(())
    }
}

pub(super) fn server_name(text: &str) -> Result<ServerName, String> {
    ServerName::new(text).map_err(|e| e.to_string())
}

impl PolicyArguments {
    /// The settings in force.
    pub fn settings(&self) -> Result<Settings, Failure> {
        self.load().map_err(|e| Failure::new(Exit::Usage, e))
    }

    /// The settings in force, and where they come from.
    pub fn origin(&self) -> Origin {
        let arguments = self.clone();
        Origin::new(self.settings.iter().cloned().collect(), move || arguments.load())
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        let mut settings = match &self.settings {
            None => Settings::default(),
            Some(path) => Settings::load(path)?,
        };
        if self.profile.is_some() {
            settings.make_dangerous();
        }
        if matches!(self.profile, Some(Profile::Locked)) {
            settings.lock_cwd();
        }
        if let Some(module) = &self.module {
            settings.module_path = Some(module.clone());
        }
        Ok(settings)
    }
}

/// Where compiled modules are kept. Where they cannot be kept, `doctor` says why.
pub(super) fn cache() -> CachePolicy {
    CachePolicy::of_user().unwrap_or(CachePolicy::Off)
}

/// The settings' module, under the settings.
pub(super) fn module(settings: &Settings) -> Result<Arc<PolicyModule>, Failure> {
    let component = component(settings)?;
    match PolicyModule::new(component, &settings.policy_json()) {
        Ok(module) => Ok(Arc::new(module)),
        Err(error @ ConfigureError::Rejected(_)) => {
            Err(Failure::text(Exit::Usage, named(settings.file.as_deref(), &error)))
        }
        Err(ConfigureError::Fault(fault)) => {
            let error = format!("{fault} [{}]", fault.code());
            Err(Failure::text(Exit::Module, named(settings.module_path.as_deref(), &error)))
        }
    }
}

/// The settings' module, if it is the one that they mean.
pub(super) fn component(settings: &Settings) -> Result<Arc<Component>, Failure> {
    let component = match &settings.module_path {
        None => Component::embedded(settings.limits),
        Some(path) => {
            let file =
                ModuleFile::read(path, &settings.release.provenance).map_err(|e| Failure::new(Exit::Module, e))?;
            Component::from_bytes_with(file.bytes(), settings.limits, &cache())
        }
    };
    component.map(Arc::new).map_err(|error| {
        let text = format!("{error} [{}]", error.code());
        Failure::text(Exit::Module, named(settings.module_path.as_deref(), &text))
    })
}

/// An error with the file that it is about, where it is about one.
fn named(file: Option<&Path>, error: &dyn Display) -> String {
    file.map_or_else(|| error.to_string(), |file| format!("`{}`: {error}", file.display()))
}

/// The built-in tools and these lists.
pub(super) fn catalogue(tools: &ToolArguments) -> Result<Catalogue, Failure> {
    let servers = servers(&tools.tools, tools.server.as_ref())?;
    Catalogue::with_servers(servers).map_err(|e| Failure::text(Exit::BadInput, format!("{e} [{}]", e.code)))
}

/// A reloader over the built-in tools and these lists, that tells what happens on standard error.
pub(super) fn reloader(
    policy: &PolicyArguments,
    tools: &ToolArguments,
    audit: Option<&Arc<AuditLog>>,
) -> Result<Arc<Reloader>, Failure> {
    let options = ReloaderOptions { catalogue: catalogue(tools)?, context_window: 0, cache: cache() };
    let told: Arc<dyn LifecycleSink> = Arc::new(events::tell);
    let told = match audit {
        Some(audit) => Arc::new(Recorded::new(Arc::clone(audit) as _, told)),
        None => told,
    };
    Reloader::start(policy.origin(), options, told).map_err(|refusal| {
        let exit = match refusal.check {
            Check::Settings | Check::Configure => Exit::Usage,
            _ => Exit::Module,
        };
        Failure::new(exit, refusal)
    })
}

/// A judge over the built-in tools and these lists.
pub(super) fn judge(policy: &PolicyArguments, tools: &ToolArguments) -> Result<Judge, Failure> {
    judge_under(&policy.settings()?, tools)
}

/// A judge under settings.
pub(super) fn judge_under(settings: &Settings, tools: &ToolArguments) -> Result<Judge, Failure> {
    let servers = servers(&tools.tools, tools.server.as_ref())?;
    let module = module(settings)?;
    let registry = registry(&*module, servers, 0)?;
    Ok(Judge::new(module, registry, settings.floors))
}

/// The tools of these lists.
pub(super) fn servers(files: &[PathBuf], server: Option<&ServerName>) -> Result<Servers, Failure> {
    let mut servers = Servers::default();
    for file in files {
        let text = input::whole_file(file)?;
        let list = Servers::from_json(&text, server).map_err(|e| {
            let hint = if e.code == "no-server-name" { "; give --server NAME" } else { "" };
            Failure::text(Exit::BadInput, format!("`{}`: {e}{hint} [{}]", file.display(), e.code))
        })?;
        servers.extend(list);
    }
    Ok(servers)
}

/// A registry over the built-in tools and these.
pub(super) fn registry(module: &dyn Policy, servers: Servers, window: u64) -> Result<Arc<Registry>, Failure> {
    let catalogue =
        Catalogue::with_servers(servers).map_err(|e| Failure::text(Exit::BadInput, format!("{e} [{}]", e.code)))?;
    let registry = Registry::build(module, catalogue, window, Generation(1));
    registry.map(Arc::new).map_err(|e| Failure::text(Exit::Module, format!("no registry is published: {e}")))
}
