//! `toolwarden baseline status`.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::arguments::{LanguageWord, ServerArguments, StoreArguments};
use super::{Surveyor, in_force, surveyed};
use crate::baseline::{Reach, State, Stored, Tolerance, check};
use crate::cli::exit::{Exit, Outcome};
use crate::cli::output::{self, OutputArguments};

/// Arguments of `baseline status`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline status --mcp-config .mcp.json

Exit codes: 0 the baseline matches, 1 it does not, 2 wrong usage.")]
pub struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    servers: ServerArguments,
    /// Language of the summary
    #[arg(long, value_enum, default_value_t)]
    language: LanguageWord,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments, surveyor: &dyn Surveyor, out: &mut dyn Write) -> Outcome {
    let survey = surveyed(surveyor, &arguments.servers.mcp_config)?;
    let (revision, stored) = in_force(&arguments.store.folder()?)?;
    let state = check(&survey, &stored, Reach::Catalogue, Tolerance::Nothing);
    let summary = state.summary(arguments.language.into());
    let servers: BTreeMap<&str, &str> = survey
        .servers()
        .keys()
        .map(|name| (name.as_str(), check(&survey, &stored, Reach::Server(name), Tolerance::Nothing).code()))
        .collect();
    if arguments.output.is_human() {
        writeln!(out, "{}{}{summary}", state.code(), if summary.is_empty() { "" } else { ": " })?;
        for (server, code) in &servers {
            writeln!(out, "  {server}: {code}")?;
        }
    } else {
        let accepted = match &stored {
            Stored::Accepted(baseline) => Some(baseline.fingerprint()),
            _ => None,
        };
        let record = json!({ "state": state.code(), "summary": summary, "revision": revision, "accepted": accepted, "servers": servers });
        output::json_line(out, &record)?;
    }
    Ok(exit(&state))
}

pub(super) const fn exit(state: &State) -> Exit {
    match state {
        State::Equal | State::CarriedOver(_) => Exit::Done,
        _ => Exit::BadInput,
    }
}
