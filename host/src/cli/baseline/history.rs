//! `toolwarden baseline history`.

use std::io::Write;

use toolwarden_text::clip;

use super::arguments::StoreArguments;
use crate::baseline::{EntryKind, history};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::store::Store;

/// Arguments of `baseline history`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  toolwarden baseline history")]
pub struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    /// Revisions at most, the newest first
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Outcome {
    let failed = |error| Failure::new(Exit::BadInput, error);
    let store = Store::open_to_read(&arguments.store.folder()?).map_err(failed)?;
    for entry in store.read(|connection| history(connection, arguments.limit)).map_err(failed)? {
        if arguments.output.is_human() {
            let what = match entry.kind {
                EntryKind::Accepted => "accepted",
                EntryKind::Withdrawn => "withdrawn",
            };
            let fingerprint = entry.fingerprint.map(|f| f.to_string()).unwrap_or_default();
            writeln!(
                out,
                "{:>4} {what} {} by {} {fingerprint}",
                entry.revision.get(),
                entry.time_ms,
                clip(&entry.who, 60)
            )?;
        } else {
            output::json_line(out, &entry)?;
        }
    }
    Ok(Exit::Done)
}
