//! `toolwarden baseline`: what was accepted of MCP servers, and whether it is still so.

mod accept;
mod arguments;
mod diff;
mod history;
mod servers;
mod status;
mod transfer;

use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Subcommand;

use super::exit::{Exit, Failure, Outcome};
use crate::baseline::{BaselineCache, Revision, Stored, Survey};
use crate::store::{Store, StoreError};
use servers::Servers;

/// Somebody who asks all servers of an `mcpServers` file for their tools.
pub trait Surveyor {
    /// Asks each of them anew, programs in processes of their own. A server that does not answer is part of the survey.
    ///
    /// # Errors
    ///
    /// An error where the file cannot be used.
    fn survey(&self, config: &Path) -> anyhow::Result<Survey>;
}

/// Commands of `baseline`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Whether what the servers show is what was accepted
    Status(status::Arguments),
    /// What differs, place by place
    Diff(diff::Arguments),
    /// Accept what was looked at, by its fingerprint
    Accept(accept::Arguments),
    /// What was accepted before
    History(history::Arguments),
    /// Write the baseline in force
    Export(transfer::ExportArguments),
    /// Keep a baseline from elsewhere, to be looked at
    Import(transfer::ImportArguments),
}

/// Runs a command on real servers.
pub(super) fn main(command: &Command) -> Outcome {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let mut out = super::output::human_stdout();
    let exit = run(command, &Servers, now_ms, &mut out)?;
    out.flush()?;
    Ok(exit)
}

/// Runs a command. `now_ms` is the time in milliseconds since 1970, UTC.
///
/// # Errors
///
/// [`Failure`].
pub fn run(command: &Command, surveyor: &dyn Surveyor, now_ms: i64, out: &mut dyn std::io::Write) -> Outcome {
    match command {
        Command::Status(arguments) => status::run(arguments, surveyor, out),
        Command::Diff(arguments) => diff::run(arguments, surveyor, out),
        Command::Accept(arguments) => accept::run(arguments, surveyor, now_ms, out),
        Command::History(arguments) => history::run(arguments, out),
        Command::Export(arguments) => transfer::export(arguments, out),
        Command::Import(arguments) => transfer::import(arguments, now_ms, out),
    }
}

/// The baseline in force in a store. A store that is not there has none.
fn in_force(folder: &Path) -> Result<(Option<Revision>, Stored), Failure> {
    let store = match Store::open_to_read(folder) {
        Ok(store) => store,
        Err(StoreError::Missing(_)) => return Ok((None, Stored::Missing)),
        Err(error) => return Err(Failure::new(Exit::BadInput, error)),
    };
    let loaded = store.read(|connection| BaselineCache::default().load(connection));
    let (revision, stored) = loaded.map_err(|error| Failure::new(Exit::BadInput, error))?;
    Ok((revision, (*stored).clone()))
}

/// What was brought from elsewhere.
fn brought(folder: &Path) -> Result<Stored, Failure> {
    let store = Store::open_to_read(folder).map_err(|error| Failure::new(Exit::BadInput, error))?;
    store.read(crate::baseline::imported).map_err(|error| Failure::new(Exit::BadInput, error))
}

fn surveyed(surveyor: &dyn Surveyor, config: &Path) -> Result<Survey, Failure> {
    surveyor.survey(config).map_err(|error| Failure::new(Exit::Usage, error))
}
