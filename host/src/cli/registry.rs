//! `toolwarden registry`: what the model is shown of a list of tools, and why.

use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use toolwarden_text::clip;

use super::exit::{Exit, Outcome};
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments};
use crate::call::{Origin, ServerName};
use crate::module::{Exposure, Kind};
use crate::registry::{Generation, Registered, RegistryTotals};

const EXAMPLES: &str = "Examples:
  toolwarden registry --server github tools.json
  toolwarden registry --settings toolwarden.toml --context-window 200000 github.json jira.json";

/// Arguments of `registry`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Tool lists: what an MCP server answers to tools/list; - or nothing: standard input
    #[arg(default_value = "-", value_name = "FILE", hide_default_value = true)]
    lists: Vec<PathBuf>,
    /// Server of the lists that do not name theirs
    #[arg(long, value_name = "NAME", value_parser = setup::server_name)]
    server: Option<ServerName>,
    /// The model's context window in tokens; 0: not known
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    context_window: u64,
    /// Show the built-in and bridge tools as well
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Serialize)]
struct Plan<'r> {
    generation: Generation,
    totals: RegistryTotals,
    tools: Vec<PlannedTool<'r>>,
}

#[derive(Serialize)]
struct PlannedTool<'r> {
    server: Option<&'r ServerName>,
    name: &'r str,
    public_name: &'r str,
    exposure: Exposure,
    reason: &'r Kind,
    tokens: u32,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let settings = arguments.policy.settings()?;
    let progress = output::spinner("planning");
    let servers = setup::servers(&arguments.lists, arguments.server.as_ref())?;
    let module = setup::module(&settings)?;
    let registry = setup::registry(&*module, servers, arguments.context_window)?;
    progress.finish_and_clear();

    let shown: Vec<&Registered> = registry
        .tools()
        .iter()
        .filter(|t| arguments.all || !matches!(t.tool.tool.origin, Origin::Core | Origin::Bridge))
        .collect();
    let totals = RegistryTotals::of(shown.iter().copied(), registry.bridge_tokens());
    let tools = shown.iter().map(|t| planned(t)).collect();
    let plan = Plan { generation: registry.generation(), totals, tools };

    let mut out = output::stdout();
    if arguments.output.is_human() {
        let mut table = output::table(["tool", "exposure", "reason", "tokens"]);
        for tool in &plan.tools {
            let exposure = match tool.exposure {
                Exposure::Hidden => "hidden",
                Exposure::Deferred => "deferred",
                Exposure::Eager => "eager",
            };
            let name = clip(tool.public_name, 64);
            table.add_row([&*name, exposure, tool.reason.as_str(), &tool.tokens.to_string()]);
        }
        let RegistryTotals { tools, tokens, deferred, tokens_saved } = plan.totals;
        writeln!(out, "{table}")?;
        writeln!(
            out,
            "\n{tools} tools, about {tokens} tokens; {deferred} deferred, which saves about {tokens_saved} tokens"
        )?;
    } else {
        output::json_line(&mut out, &plan)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn planned(registered: &Registered) -> PlannedTool<'_> {
    let tool = &registered.tool.tool;
    PlannedTool {
        server: tool.server.as_ref(),
        name: &tool.name,
        public_name: &tool.public_name,
        exposure: registered.exposure,
        reason: &registered.reason,
        tokens: registered.tool.tokens,
    }
}
