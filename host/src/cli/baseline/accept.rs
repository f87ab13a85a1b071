//! `toolwarden baseline accept`.

use std::io::Write;

use serde_json::json;

use super::arguments::{ExclusionArguments, ServerArguments, StoreArguments};
use super::{Surveyor, brought, in_force, surveyed};
use crate::baseline::{AcceptError, Acceptance, Fingerprint, Stored, accept};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::store::Store;

/// Arguments of `baseline accept`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline accept --mcp-config .mcp.json --fingerprint sha256:...

Look with `baseline diff` first; it shows the fingerprint. The servers are asked anew, twice, and what they
show must still have it. Accepting records that somebody looked. It does not prove a server honest.")]
pub struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    servers: ServerArguments,
    /// Fingerprint of what was looked at
    #[arg(long, value_name = "SHA256")]
    fingerprint: Fingerprint,
    #[command(flatten)]
    exclusions: ExclusionArguments,
    /// Start from what the imported baseline has taken out
    #[arg(long)]
    imported: bool,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments, surveyor: &dyn Surveyor, now_ms: i64, out: &mut dyn Write) -> Outcome {
    // Before anything is asked: whoever accepts in the meantime wins.
    let (base, stored) = in_force(&arguments.store.folder()?)?;
    let stored: Stored = if arguments.imported { brought(&arguments.store.folder()?)? } else { stored };
    let exclusions = arguments.exclusions.with(&stored)?;
    let survey = surveyed(surveyor, &arguments.servers.mcp_config)?;
    let again = surveyed(surveyor, &arguments.servers.mcp_config)?;
    let acceptance = Acceptance {
        seen: arguments.fingerprint,
        base,
        survey: &survey,
        again: &again,
        exclusions: &exclusions,
        who: "command-line",
        time_ms: now_ms,
    };
    let store = Store::open(&arguments.store.folder()?).map_err(|error| Failure::new(Exit::BadInput, error))?;
    match store.write::<_, AcceptError>(|transaction| accept(transaction, &acceptance)) {
        Ok(revision) if arguments.output.is_human() => writeln!(out, "accepted, as revision {}", revision.get())?,
        Ok(revision) => {
            output::json_line(out, &json!({ "accepted": arguments.fingerprint, "revision": revision }))?;
        }
        Err(error) if arguments.output.is_human() => return Err(Failure::new(Exit::BadInput, error)),
        Err(error) => {
            let refused = json!({ "error": { "code": error.code(), "message": error.to_string() } });
            output::json_line(out, &refused)?;
            return Ok(Exit::BadInput);
        }
    }
    Ok(Exit::Done)
}
