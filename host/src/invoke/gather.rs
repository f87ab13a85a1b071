//! Facts about a call: those that came with it, or those found on this machine.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use super::containment::{self, Place};
use super::floors::{path_arguments, uses_cwd};
use super::resolve::{may_touch, real_path};
use crate::call::{Arguments, Call, CwdFacts, Facts, Flavour, PathFact, Resolution, ToolRef, Workspace};
use crate::registry::{Registered, Registry};

/// Where the facts about paths come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSource {
    /// The record. Nothing on this machine is touched: the call may be another machine's.
    Record,
    /// This machine's file system. What the record says about paths is not looked at.
    ThisMachine,
}

/// All facts about a call of this tool.
pub(super) fn facts(
    source: FactSource,
    call: &Call,
    tool: &ToolRef,
    registered: Option<&Registered>,
    arguments: &Arguments,
    registry: &Registry,
) -> Facts {
    let given = &call.facts;
    let nearest = if registered.is_some() { None } else { registry.nearest(&tool.public_name) };
    let (cwd, paths) = match source {
        FactSource::Record => (given_cwd(call), given_paths(call)),
        FactSource::ThisMachine => {
            let needed = uses_cwd(tool, arguments);
            let cwd = if needed { real_cwd(arguments, &call.workspace) } else { CwdFacts::NOT_ATTEMPTED };
            (cwd, real_paths(tool, arguments, &call.workspace))
        }
    };
    Facts {
        cwd,
        paths,
        trust: given.trust.or(registered.map(|r| r.tool.trust)).unwrap_or_default(),
        trust_summary: given.trust_summary.clone(),
        nearest: nearest.unwrap_or_default().into(),
    }
}

/// What the record says about the cwd.
pub(crate) fn given_cwd(call: &Call) -> CwdFacts {
    let given = &call.facts;
    let paths = given.resolved.clone().into_vec();
    if given.unresolvable {
        return CwdFacts::FAILED;
    }
    if paths.is_empty() {
        return CwdFacts::NOT_ATTEMPTED;
    }
    // A resolved cwd without a resolved root proves nothing; the module then finds it below no root.
    let roots = given.resolved_root.iter().chain(&given.resolved_extra_roots).cloned().collect();
    CwdFacts { resolution: Resolution::Resolved, paths, roots, skills_roots: given.resolved_skills.clone() }
}

fn given_paths(call: &Call) -> Vec<PathFact> {
    let fact = |(argument, path): (&String, &String)| PathFact {
        argument: argument.clone(),
        resolution: Resolution::Resolved,
        path: path.clone(),
    };
    call.facts.paths.iter().map(fact).collect()
}

/// Follows the links of a cwd that is clearly inside by name. Any other is not looked at, since a path elsewhere may belong to
/// the network; it counts as one that could not be followed, so that no name hides a link by being read as inside by the
/// module only.
fn real_cwd(arguments: &Arguments, workspace: &Workspace) -> CwdFacts {
    let here = workspace.flavour == Flavour::HERE;
    let cwd = arguments.get("cwd");
    let mut places = if here { containment::places(cwd, workspace) } else { None };
    // Whoever starts the shell may know no scheme. A file that is really called so is one more way to read the text.
    if let (Some(places), Some(text)) = (&mut places, cwd.and_then(Value::as_str))
        && text.contains(':')
        && may_touch(text)
        && Path::new(&workspace.root).join(text).symlink_metadata().is_ok()
    {
        places.push(Place::Relative(text.into()));
    }
    places.and_then(|places| resolved(&places, workspace)).unwrap_or(CwdFacts::FAILED)
}

fn resolved(places: &[Place], workspace: &Workspace) -> Option<CwdFacts> {
    let roots = containment::roots(workspace).iter().map(|root| real(Path::new(root))).collect::<Option<Vec<_>>>()?;
    // A skills root that does not resolve holds no skill.
    let skills_roots: Vec<String> = workspace.skills.iter().filter_map(|root| real(Path::new(root))).collect();
    let mut paths = Vec::with_capacity(places.len());
    for place in places {
        match place {
            Place::Relative(path) => paths.push(real(&Path::new(&workspace.root).join(path))?),
            Place::Absolute(path) => paths.push(real(Path::new(path))?),
            Place::Skill(path) => {
                // The skill is looked for, not the path in it, which need not exist yet.
                let name = path.split('/').next().unwrap_or_default();
                for root in workspace.skills.iter().map(Path::new) {
                    match root.join(name).symlink_metadata() {
                        Ok(_) => paths.push(real(&root.join(path))?),
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(_) => return None,
                    }
                }
            }
        }
    }
    // A skill that no root holds is nowhere.
    if paths.is_empty() {
        return None;
    }
    Some(CwdFacts { resolution: Resolution::Resolved, paths, roots, skills_roots })
}

fn real_paths(tool: &ToolRef, arguments: &Arguments, workspace: &Workspace) -> Vec<PathFact> {
    let fact = |(name, value)| {
        let places =
            if workspace.flavour == Flavour::HERE { containment::places(Some(value), workspace) } else { None };
        let (resolution, path) = match places.as_deref() {
            Some([Place::Relative(path), ..]) => resolution(real(&Path::new(&workspace.root).join(path))),
            Some([Place::Absolute(path), ..]) => resolution(real(Path::new(path))),
            _ => (Resolution::NotAttempted, String::new()),
        };
        PathFact { argument: format!("/{name}"), resolution, path }
    };
    path_arguments(tool, arguments).map(fact).collect()
}

fn resolution(real: Option<String>) -> (Resolution, String) {
    real.map_or((Resolution::Failed, String::new()), |path| (Resolution::Resolved, path))
}

/// A real path as text. One that is not UTF-8 cannot be compared with anything, so it counts as not resolved.
fn real(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if !may_touch(text) {
        return None;
    }
    real_path(path).ok()?.into_os_string().into_string().ok()
}
