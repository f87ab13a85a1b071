//! The default module, and a module as its faces see it: settings that may not have been given yet.

use std::vec::Vec;

use crate::kit::PolicyModule;
use crate::model::{
    Admission, Argument, CwdFacts, CwdJudgement, Deferral, Gate, Invocation, ToolDefinition, Totals, Workspace,
};
use crate::settings::{Issue, SCHEMA, Settings};
use crate::trail::Trail;

/// The default module: the default decisions, and no settings of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultModule(Settings);

impl PolicyModule for DefaultModule {
    const NAME: &'static str = crate::NAME;
    const VERSION: &'static str = crate::VERSION;
    const SUMMARY: &'static str = crate::SUMMARY;
    const SCHEMA: &'static str = SCHEMA;

    fn configure(settings: &str) -> Result<Self, Vec<Issue>> {
        Settings::from_json(settings).map(Self)
    }

    fn base(&self) -> &Settings {
        &self.0
    }
}

/// The default module, configured or not.
pub type Module = Instance<DefaultModule>;

/// A module, configured or not. Before any settings were accepted everything is refused, so that a host which forgets
/// [`configure`](Instance::configure) lets nothing through. That holds for every module, whatever its author wrote.
#[derive(Debug)]
pub struct Instance<M> {
    module: Option<M>,
}

impl<M> Default for Instance<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Instance<M> {
    /// A module without settings.
    #[must_use]
    pub const fn new() -> Self {
        Self { module: None }
    }

    /// Puts a configured module in the place of the former one, which is handed back.
    pub(crate) fn replace(&mut self, module: M) -> Option<M> {
        self.module.replace(module)
    }
}

impl<M: PolicyModule> Instance<M> {
    /// Takes settings, or says all that is wrong with them and keeps the former ones.
    ///
    /// # Errors
    ///
    /// One [`Issue`] for each fault.
    pub fn configure(&mut self, settings: &str) -> Result<(), Vec<Issue>> {
        self.module = Some(M::configure(settings)?);
        Ok(())
    }

    /// See [`PolicyModule::is_approval_gated`].
    #[must_use]
    pub fn is_approval_gated(&self, call: &Invocation) -> Gate {
        self.module.as_ref().map_or_else(Gate::not_configured, |module| module.is_approval_gated(call))
    }

    /// See [`PolicyModule::admit_tool`].
    #[must_use]
    pub fn admit_tool(&self, tool: &ToolDefinition) -> Admission {
        self.module.as_ref().map_or_else(Admission::not_configured, |module| module.admit_tool(tool))
    }

    /// See [`PolicyModule::should_defer`].
    #[must_use]
    pub fn should_defer(&self, tool: &ToolDefinition, totals: &Totals) -> Deferral {
        self.module.as_ref().map_or(Deferral::NOT_CONFIGURED, |module| module.should_defer(tool, totals))
    }

    /// See [`PolicyModule::classify_cwd`]. Where a path lies is no permission, so that a module without settings tells it too,
    /// by the default rules.
    #[must_use]
    pub fn classify_cwd(
        &self,
        given: Argument,
        workspace: &Workspace,
        facts: &CwdFacts,
        trail: &mut Trail,
    ) -> CwdJudgement {
        match &self.module {
            Some(module) => module.classify_cwd(given, workspace, facts, trail),
            None => crate::classify_cwd(given, workspace, facts, trail),
        }
    }
}
