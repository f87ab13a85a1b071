//! `toolwarden doctor`: what is set up, what is missing, what to type.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

use super::exit::{Exit, Failure, Outcome};
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments};
use crate::authoring::TARGET;
use crate::module::{CacheError, CachePolicy, Policy as _, PolicyModule};
use crate::registry::{Registry, Servers};
use crate::settings::Settings;

/// Arguments of `doctor`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  toolwarden doctor --settings toolwarden.toml")]
pub(super) struct Arguments {
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// How well something is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Health {
    Good,
    /// Only needed for something that not everybody does.
    Optional,
    Bad,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    health: Health,
    found: String,
    /// What to type; empty where nothing need be done.
    fix: String,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let mut findings = Vec::new();
    let mut exit = Exit::Done;
    let mut failed = |what, failure: Failure, fix: &str| {
        let Failure::Error { exit: code, error } = failure else { return None };
        exit = code;
        Some(Finding { what, health: Health::Bad, found: format!("{error:#}"), fix: fix.into() })
    };
    match arguments.policy.settings() {
        Err(failure) => findings.extend(failed("settings", failure, "correct the file; README.md lists all keys")),
        Ok(settings) => {
            findings.push(settings_finding(&arguments.policy));
            match setup::module(&settings) {
                Ok(module) => {
                    findings.push(module_finding(&module));
                    let registry = setup::registry(&*module, Servers::default(), 0).ok();
                    findings.push(registry_finding(registry.as_deref()));
                    let idle = registry.map(|registry| idle_rules(&settings, &registry)).unwrap_or_default();
                    if !idle.is_empty() {
                        exit = Exit::Usage;
                    }
                    findings.extend(idle);
                }
                Err(failure) => {
                    findings.extend(failed("policy module", failure, "toolwarden policy check FILE says more"));
                }
            }
        }
    }
    findings.push(cache_finding());
    findings.push(target_finding());

    let mut out = output::human_stdout();
    for finding in &findings {
        if !arguments.output.is_human() {
            output::json_line(&mut out, finding)?;
            continue;
        }
        let mark = match finding.health {
            Health::Good => "ok      ",
            Health::Optional => "optional",
            Health::Bad => "wrong   ",
        };
        writeln!(out, "{mark}  {:<14} {}", finding.what, toolwarden_text::visible(&finding.found))?;
        if !finding.fix.is_empty() {
            writeln!(out, "{:26}-> {}", "", finding.fix)?;
        }
    }
    out.flush()?;
    Ok(exit)
}

fn settings_finding(policy: &PolicyArguments) -> Finding {
    let everything_off = policy.settings.is_none() && policy.profile.is_none();
    let found = match &policy.settings {
        Some(path) => format!("{} is valid", path.display()),
        None if everything_off => "no file given: every gate is off".into(),
        None => "no file given: the profile's".into(),
    };
    let fix = if everything_off { "toolwarden doctor --settings toolwarden.toml, or --profile dangerous" } else { "" };
    Finding {
        what: "settings",
        health: if everything_off { Health::Optional } else { Health::Good },
        found,
        fix: fix.into(),
    }
}

fn module_finding(module: &PolicyModule) -> Finding {
    let info = module.info();
    let found = format!("{} {}, {} bytes, {}", info.name, info.version, info.size, info.digest);
    Finding { what: "policy module", health: Health::Good, found, fix: String::new() }
}

/// Rules that can never match: they name one of the built-in tools, and spell it otherwise.
fn idle_rules(settings: &Settings, registry: &Registry) -> Vec<Finding> {
    let rules = (0..settings.rules()).filter_map(|at| Some((at, settings.rule(at)?)));
    let idle = rules.filter(|(_, rule)| rule.get("server").is_none()).filter_map(|(at, rule)| {
        let name = rule.get("tool")?.as_str()?;
        let meant = registry.near_miss(name)?.tool.tool.public_name.clone();
        registry.by_public_name(name).is_none().then(|| Finding {
            what: "rule",
            health: Health::Bad,
            found: format!("`/rules/{at}` names `{name}`, and never matches: the tool is called `{meant}`"),
            fix: format!("tool = \"{meant}\""),
        })
    });
    idle.collect()
}

fn registry_finding(registry: Option<&Registry>) -> Finding {
    match registry {
        Some(registry) => Finding {
            what: "registry",
            health: Health::Good,
            found: format!("{} built-in and bridge tools", registry.totals().tools),
            fix: String::new(),
        },
        None => Finding {
            what: "registry",
            health: Health::Bad,
            found: "the module gives no answer, so no tool can be called".into(),
            fix: "use another module, or the built-in one".into(),
        },
    }
}

fn cache_finding() -> Finding {
    let finding =
        |health, found: String, fix: &str| Finding { what: "module cache", health, found, fix: fix.to_owned() };
    let report = CachePolicy::of_user().and_then(|cache| cache.report().map(|report| (cache, report)));
    match report {
        Ok((CachePolicy::Off, _)) => finding(
            Health::Optional,
            "off: a module of your own is compiled at every start".into(),
            "unset TOOLWARDEN_CACHE",
        ),
        Ok((CachePolicy::Folder(folder), report)) => {
            let modules = if report.modules == 1 { "module" } else { "modules" };
            let found = format!("{}: {} compiled {modules}, {} bytes", folder.display(), report.modules, report.bytes);
            finding(Health::Good, found, "")
        }
        Err(error) => {
            let fix = match &error {
                CacheError::Writable(path) => format!("chmod go-w {}", path.display()),
                CacheError::Place(_) => "TOOLWARDEN_CACHE=/a/folder/of/your/own".into(),
                _ => "move it away, or name another folder in TOOLWARDEN_CACHE".into(),
            };
            finding(Health::Optional, format!("not used: {error} [{}]", error.code()), &fix)
        }
    }
}

fn target_finding() -> Finding {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder =
        output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let present = folder.as_deref().is_some_and(|f| Path::new(f).is_dir());
    let (health, found, fix) = match (present, folder) {
        (true, _) => (Health::Good, format!("{TARGET} is installed"), String::new()),
        (false, Some(_)) => {
            (Health::Optional, "only to build policy modules".into(), format!("rustup target add {TARGET}"))
        }
        (false, None) => {
            (Health::Optional, "only to build policy modules; Rust is not installed".into(), String::new())
        }
    };
    Finding { what: "wasm target", health, found, fix }
}
