//! The call that is decided, the same for every way to decide it: a shell inside the workspace, under settings that no row
//! of the gate's table stops, so that every row is looked at.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use toolwarden::call::{Call, Facts};
use toolwarden::invoke::{Decision, Effective, FactSource, Floors, Judge};
use toolwarden::module::{Component, Isolation, Limits, Policy, PolicyModule, Question};
use toolwarden::registry::{Catalogue, Generation, Registry};
use toolwarden::settings::Settings;

/// The embedded component's bytes.
pub const COMPONENT: &[u8] = include_bytes!("../../policy-guest/dist/toolwarden-policy.wasm");

/// The call as `decide` reads it: a cwd inside by name, and the real paths to go with it.
pub const LINE: &str = concat!(
    r#"{"id":"call-1","tool":"Bash","arguments":{"command":"cargo test --workspace --locked","cwd":"packages/web","#,
    r#""timeout":120000},"route":"direct","attendance":"interactive","workspace":{"root":"/home/u/repo","#,
    r#""flavour":"posix","home":"/home/u","skills":["/home/u/.agent/skills"]},"#,
    r#""facts":{"resolved":"/home/u/repo/packages/web","resolvedRoot":"/home/u/repo"}}"#,
);

/// The same call from outside, which those settings stop.
pub const OUTSIDE: &str = concat!(
    r#"{"id":"call-2","tool":"Bash","arguments":{"command":"cargo test --workspace --locked","cwd":"/etc"},"#,
    r#""route":"direct","attendance":"interactive","workspace":{"root":"/home/u/repo","flavour":"posix"}}"#,
);

/// The call, and all that is known about it.
#[derive(Debug)]
pub struct Subject {
    /// The call.
    pub call: Call,
    /// Its tool and arguments.
    effective: Effective,
    /// The facts that came with it.
    facts: Facts,
    /// The settings' sections for the policy.
    settings: String,
    floors: Floors,
}

impl Subject {
    /// The call, parsed and judged once.
    pub fn new() -> Result<Self> {
        let mut settings = Settings::default();
        settings.make_dangerous();
        settings.lock_cwd();
        let (floors, settings) = (settings.floors, settings.policy_json());
        let call = Call::from_json(LINE.as_bytes())?;
        let policy = Arc::new(PolicyModule::new(component(Isolation::Pooled)?, &settings)?);
        let judge = judge(policy, floors)?;
        let judged = judge.judge(&call, FactSource::Record, false);
        ensure!(judged.verdict.decision == Decision::Allow, "the call is not allowed: {}", judged.verdict.reason);
        let outside = judge.judge(&Call::from_json(OUTSIDE.as_bytes())?, FactSource::Record, false).verdict;
        ensure!(outside.decision == Decision::Deny, "the call from outside is not denied");
        Ok(Self {
            call,
            effective: judged.effective.context("no effective call")?,
            facts: judged.facts.context("no facts")?,
            settings,
            floors,
        })
    }

    /// The settings' sections for the policy, as JSON text.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// What a policy is asked about the call.
    pub fn question(&self) -> Question<'_> {
        Question {
            tool: &self.effective.tool,
            registered: self.effective.registered,
            call_arguments: &self.effective.arguments,
            route: self.effective.route,
            attendance: self.call.attendance,
            workspace: &self.call.workspace,
            facts: &self.facts,
            explain: false,
        }
    }

    /// The embedded component, loaded and configured.
    pub fn policy(&self, isolation: Isolation) -> Result<Arc<PolicyModule>> {
        Ok(Arc::new(PolicyModule::new(component(isolation)?, &self.settings)?))
    }

    /// The component, compiled now and configured.
    pub fn compiled(&self) -> Result<Arc<PolicyModule>> {
        let component = Component::from_bytes(COMPONENT, Limits::default())?;
        Ok(Arc::new(PolicyModule::new(Arc::new(component), &self.settings)?))
    }

    /// A judge of the built-in tools.
    pub fn judge(&self, policy: Arc<dyn Policy>) -> Result<Judge> {
        judge(policy, self.floors)
    }
}

/// The embedded component.
pub fn component(isolation: Isolation) -> Result<Arc<Component>> {
    let limits = Limits { isolation, ..Limits::default() };
    Ok(Arc::new(Component::embedded(limits)?))
}

fn judge(policy: Arc<dyn Policy>, floors: Floors) -> Result<Judge> {
    let registry = Registry::build(&*policy, Catalogue::builtin(), 0, Generation(1))?;
    Ok(Judge::new(policy, Arc::new(registry), floors))
}
