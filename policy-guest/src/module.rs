//! A module as its faces see it: settings that may not have been given yet, and the decisions made with them.

use std::borrow::Cow;
use std::string::String;
use std::vec::Vec;

use crate::model::{
    Admission, Candidacy, CwdJudgement, Deferral, Effect, Exposure, Gate, Invocation, ToolDefinition, Totals,
};
use crate::settings::{Issue, Settings};

const NOT_CONFIGURED: &str = "not-configured";

/// The decisions under the settings in force. Before any settings were accepted everything is refused, so that a host which
/// forgets [`configure`](Module::configure) lets nothing through.
#[derive(Debug, Default)]
pub struct Module {
    settings: Option<Settings>,
}

impl Module {
    /// A module without settings.
    #[must_use]
    pub const fn new() -> Self {
        Self { settings: None }
    }

    /// Takes settings, or says all that is wrong with them and keeps the former ones.
    ///
    /// # Errors
    ///
    /// One [`Issue`] for each fault.
    pub fn configure(&mut self, settings: &str) -> Result<(), Vec<Issue>> {
        self.settings = Some(Settings::from_json(settings)?);
        Ok(())
    }

    /// See [`is_approval_gated`](crate::is_approval_gated).
    #[must_use]
    pub fn is_approval_gated(&self, call: &Invocation) -> Gate {
        match &self.settings {
            Some(settings) => crate::is_approval_gated(settings, call),
            None => Gate {
                effect: Effect::Refused,
                kind: NOT_CONFIGURED,
                reason: Cow::Borrowed("the policy module was given no settings"),
                detail: String::new(),
                cwd: CwdJudgement::NOT_APPLICABLE,
                trail: Vec::new(),
            },
        }
    }

    /// See [`admit_tool`](crate::admit_tool).
    #[must_use]
    pub fn admit_tool(&self, tool: &ToolDefinition) -> Admission {
        match &self.settings {
            Some(settings) => crate::admit_tool(settings, tool),
            None => Admission {
                effect: Effect::Refused,
                kind: NOT_CONFIGURED,
                reason: Cow::Borrowed("the policy module was given no settings"),
                candidacy: Candidacy::Exempt,
            },
        }
    }

    /// See [`should_defer`](crate::should_defer).
    #[must_use]
    pub fn should_defer(&self, tool: &ToolDefinition, totals: &Totals) -> Deferral {
        match &self.settings {
            Some(settings) => crate::should_defer(settings, tool, totals),
            None => Deferral { exposure: Exposure::Hidden, reason: NOT_CONFIGURED },
        }
    }
}
