//! `toolwarden audit tail`.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::super::data::DataArguments;
use super::super::exit::{Exit, Failure, Outcome};
use super::super::output::{self, OutputArguments};
use super::{FilterArguments, failed};
use crate::audit::{Entry, Trail};
use toolwarden_text::visible;

/// How often is looked for new records.
const PAUSE: Duration = Duration::from_millis(200);
/// Records that are read at once.
const CHUNK: usize = 1_000;

/// Arguments of `audit tail`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  toolwarden audit tail
  toolwarden audit tail --follow --kind denied --server github")]
pub(in super::super) struct Arguments {
    /// Records to show at first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    number: usize,
    /// Go on with records as they come
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    filter: FilterArguments,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.data.to_read()?;
    let trail = Trail::new(&store);
    let filter = arguments.filter.filter();
    let human = arguments.output.is_human();
    let mut out: Box<dyn Write> = if human { Box::new(output::human_stdout()) } else { Box::new(output::stdout()) };
    // Before the first look, so that nothing that comes meanwhile is passed over.
    let mut last = trail.last().map_err(|error| failed(&error))?;
    let mut entries = trail.newest(&filter, arguments.number).map_err(|error| failed(&error))?;
    entries.retain(|entry| entry.seq <= last || !arguments.follow);
    loop {
        for entry in &entries {
            show(&mut out, entry, human)?;
        }
        out.flush()?;
        if !arguments.follow {
            return Ok(Exit::Done);
        }
        if let Some(entry) = entries.last() {
            last = last.max(entry.seq);
        }
        entries = trail.after(last, &filter, CHUNK).map_err(|error| failed(&error))?;
        if entries.is_empty() {
            thread::sleep(PAUSE);
        }
    }
}

fn show(out: &mut dyn Write, entry: &Entry, human: bool) -> Result<(), Failure> {
    if !human {
        output::json_line(out, entry)?;
        return Ok(());
    }
    let record = &entry.record;
    let tool = match (&record.server, &record.tool) {
        (Some(server), Some(tool)) => format!("{server}/{tool}"),
        (None, Some(tool)) => tool.clone(),
        _ => String::new(),
    };
    let call = record.call.as_ref().map(|call| call.0.as_str()).unwrap_or_default();
    let reason = record.reason.as_deref().unwrap_or_default();
    write!(out, "{}  {:<22}  {:<8}  {:<20}", entry.time, record.kind.as_str(), visible(call), visible(&tool))?;
    if let Some(kind) = &record.reason_kind {
        write!(out, "  [{}]", visible(kind))?;
    }
    writeln!(out, "  {}", visible(reason))?;
    Ok(())
}
