//! A plan as `registry` writes it.

use serde::Serialize;

use super::plan::{Generation, Registered, Registry, RegistryTotals};
use crate::call::{Origin, ServerName};
use crate::module::{Exposure, Kind};

/// Which tools a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Those of servers and plugins.
    Servers,
    /// The agent's own and the bridge tools as well.
    All,
}

/// A plan, and sums over the tools that it tells of.
#[derive(Debug, Serialize)]
pub struct PlanRecord<'r> {
    generation: Generation,
    /// Sums.
    pub totals: RegistryTotals,
    /// The tools.
    pub tools: Vec<PlannedTool<'r>>,
}

/// A tool, and what the model is shown of it.
#[derive(Debug, Serialize)]
pub struct PlannedTool<'r> {
    server: Option<&'r ServerName>,
    name: &'r str,
    /// The name that the model sees.
    pub public_name: &'r str,
    /// What the model is shown.
    pub exposure: Exposure,
    /// Why.
    pub reason: &'r Kind,
    /// Estimated tokens of the definition.
    pub tokens: u32,
}

impl Registry {
    /// The plan as a record.
    #[must_use]
    pub fn record(&self, listing: Listing) -> PlanRecord<'_> {
        let is_told = |tool: &&Registered| {
            listing == Listing::All || !matches!(tool.tool.tool.origin, Origin::Core | Origin::Bridge)
        };
        let told = || self.tools().iter().filter(is_told);
        PlanRecord {
            generation: self.generation(),
            totals: RegistryTotals::of(told(), self.bridge_tokens()),
            tools: told().map(PlannedTool::of).collect(),
        }
    }
}

impl<'r> PlannedTool<'r> {
    fn of(registered: &'r Registered) -> Self {
        let tool = &registered.tool.tool;
        Self {
            server: tool.server.as_ref(),
            name: &tool.name,
            public_name: &tool.public_name,
            exposure: registered.exposure,
            reason: &registered.reason,
            tokens: registered.tool.tokens,
        }
    }
}
