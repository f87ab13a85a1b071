//! `toolwarden audit verify`.

use std::io::Write as _;

use serde_json::json;

use super::super::data::DataArguments;
use super::super::exit::{Exit, Outcome};
use super::super::output::{self, OutputArguments};
use crate::audit::{Head, Trail};

/// Arguments of `audit verify`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  toolwarden audit verify
  toolwarden audit verify --head 1200:sha256:...      a head that verify told before, and that was kept elsewhere

The chain shows what was changed, cut out or moved. Whoever may write the file can write a whole new chain: keep the head
elsewhere now and then, and have it found again. Exit code 0: whole; 1: broken.")]
pub(in super::super) struct Arguments {
    /// A head that was kept elsewhere, and must be in the chain; may be repeated
    #[arg(long, value_name = "NUMBER:HASH")]
    head: Vec<Head>,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.data.to_read()?;
    let progress = output::spinner("checking the chain");
    let verified = Trail::new(&store).verify(&arguments.head);
    progress.finish_and_clear();
    let mut out = output::stdout();
    let human = arguments.output.is_human();
    let exit = match verified {
        Ok(report) => {
            let (first, head) = (report.anchor.seq + 1, report.head);
            if human {
                writeln!(out, "whole: {} records, from number {first} on; head {head}", report.records)?;
            } else {
                let record = json!({ "ok": true, "records": report.records, "first": first, "head": head.to_string() });
                output::json_line(&mut out, &record)?;
            }
            Exit::Done
        }
        Err(broken) => {
            if human {
                writeln!(out, "broken: {broken} [{}]", broken.code())?;
            } else {
                let error = json!({ "code": broken.code(), "message": broken.to_string() });
                output::json_line(&mut out, &json!({ "ok": false, "error": error }))?;
            }
            Exit::BadInput
        }
    };
    out.flush()?;
    Ok(exit)
}
