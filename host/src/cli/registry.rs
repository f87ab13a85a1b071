//! `toolwarden registry`: what the model is shown of a list of tools, and why.

use std::io::Write as _;
use std::path::PathBuf;

use toolwarden_text::clip;

use super::exit::{Exit, Outcome};
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments};
use crate::call::ServerName;
use crate::module::Exposure;
use crate::registry::{Listing, RegistryTotals};

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

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let settings = arguments.policy.settings()?;
    let progress = output::spinner("planning");
    let servers = setup::servers(&arguments.lists, arguments.server.as_ref())?;
    let module = setup::module(&settings)?;
    let registry = setup::registry(&*module, servers, arguments.context_window)?;
    progress.finish_and_clear();

    let plan = registry.record(if arguments.all { Listing::All } else { Listing::Servers });

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
