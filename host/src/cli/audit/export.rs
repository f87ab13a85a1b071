//! `toolwarden audit export`.

use std::io::Write as _;

use clap::ValueEnum;

use super::super::data::DataArguments;
use super::super::exit::{Exit, Outcome};
use super::super::output;
use super::{FilterArguments, failed};
use crate::audit::{Trail, ocsf_event};

/// Records that are read at once.
const CHUNK: usize = 1_000;

/// How records are written.
#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// As they are, one a line
    Jsonl,
    /// As OCSF events of the class API Activity, one a line
    Ocsf,
}

/// Arguments of `audit export`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  toolwarden audit export > audit.jsonl
  toolwarden audit export --format ocsf --after 1200 | your-collector")]
pub(in super::super) struct Arguments {
    /// How records are written
    #[arg(long, value_enum, default_value_t = Shape::Jsonl)]
    format: Shape,
    /// Only records behind this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,
    #[command(flatten)]
    filter: FilterArguments,
    #[command(flatten)]
    data: DataArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.data.to_read()?;
    let trail = Trail::new(&store);
    let filter = arguments.filter.filter();
    let mut out = output::stdout();
    let mut last = arguments.after;
    loop {
        let entries = trail.after(last, &filter, CHUNK).map_err(|error| failed(&error))?;
        let Some(newest) = entries.last() else { break };
        last = newest.seq;
        for entry in &entries {
            match arguments.format {
                Shape::Jsonl => output::json_line(&mut out, entry)?,
                Shape::Ocsf => output::json_line(&mut out, &ocsf_event(entry))?,
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
