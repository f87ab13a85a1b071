//! `toolwarden baseline diff`.

use std::io::{self, Write};

use serde_json::{Value, json};
use toolwarden_text::clip;

use super::arguments::{ExclusionArguments, LanguageWord, ServerArguments, StoreArguments};
use super::{Surveyor, brought, in_force, status, surveyed};
use crate::baseline::{Change, Reach, Stored, Tolerance, check, unstable};
use crate::cli::exit::Outcome;
use crate::cli::output::{self, OutputArguments};

/// Characters of a value that a person is shown; `--json` has all of it.
const SHOWN: usize = 400;

/// Arguments of `baseline diff`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline diff --mcp-config .mcp.json --twice

Exit codes: 0 the baseline matches, 1 it does not, 2 wrong usage.

The fingerprint that is shown is what `baseline accept` takes, together with the same exclusions.")]
pub struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    servers: ServerArguments,
    #[command(flatten)]
    exclusions: ExclusionArguments,
    /// Compare with what was brought from elsewhere
    #[arg(long)]
    imported: bool,
    /// Ask twice, and show what is not the same in both listings
    #[arg(long)]
    twice: bool,
    /// Language of the summary
    #[arg(long, value_enum, default_value_t)]
    language: LanguageWord,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments, surveyor: &dyn Surveyor, out: &mut dyn Write) -> Outcome {
    let stored =
        if arguments.imported { brought(&arguments.store.folder()?)? } else { in_force(&arguments.store.folder()?)?.1 };
    let exclusions = arguments.exclusions.with(&stored)?;
    let survey = surveyed(surveyor, &arguments.servers.mcp_config)?;
    let unstable = if arguments.twice {
        unstable(&survey, &surveyed(surveyor, &arguments.servers.mcp_config)?, &exclusions)
    } else {
        Vec::new()
    };
    let state = check(&survey, &stored, Reach::Catalogue, Tolerance::Nothing);
    let fingerprint = survey.fingerprint(&exclusions).ok();
    let changes = state.drift().map(|drift| drift.changes().to_vec());
    // Without a baseline all there is is new, and has to be looked at.
    let all = matches!(stored, Stored::Missing).then(|| survey.lists().ok()).flatten();
    let all = all.and_then(|lists| crate::baseline::diff(&crate::baseline::Lists::new(), &lists, &exclusions));
    let changes = changes.or_else(|| all.map(|drift| drift.changes().to_vec())).unwrap_or_default();
    let summary = state.summary(arguments.language.into());
    if arguments.output.is_human() {
        writeln!(out, "{}{}{summary}", state.code(), if summary.is_empty() { "" } else { ": " })?;
        changes.iter().try_for_each(|change| show(out, change))?;
        for place in &unstable {
            writeln!(out, "unstable: {place}")?;
        }
        if let Some(fingerprint) = fingerprint {
            writeln!(out, "fingerprint: {fingerprint}")?;
        }
    } else {
        let record = json!({
            "state": state.code(), "summary": summary, "fingerprint": fingerprint, "exclusions": exclusions,
            "changes": changes, "unstable": unstable,
        });
        output::json_line(out, &record)?;
    }
    Ok(status::exit(&state))
}

fn show(out: &mut dyn Write, change: &Change) -> io::Result<()> {
    let whose = clip(change.public_name.as_deref().unwrap_or(&change.server), 64);
    writeln!(out, "{:9} {whose} {}", change.grade.as_str(), clip(&change.pointer, SHOWN))?;
    for (sign, value) in [('-', &change.old), ('+', &change.new)] {
        if let Some(value) = value {
            let text = match value {
                Value::String(text) => clip(text, SHOWN).into_owned(),
                other => clip(&other.to_string(), SHOWN).into_owned(),
            };
            writeln!(out, "  {sign} {text}")?;
        }
    }
    Ok(())
}
