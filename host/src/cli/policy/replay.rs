//! `toolwarden policy replay`.

use std::io::{BufReader, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwarden_text::visible;

use crate::call::{Call, RecordError};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::input::{self, Line};
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments, ToolArguments};
use crate::invoke::FactSource;
use crate::lifecycle::{Change, Comparison, compare};

const EXAMPLES: &str = "Examples:
  toolwarden policy replay calls.jsonl --new-module my-policy.wasm
  toolwarden policy replay calls.jsonl --old-settings old.toml --new-settings new.toml
  toolwarden policy replay calls.jsonl --new-settings new.toml --fail-on looser      in CI

Calls are records as for decide, or records that hold one as `call`. Only calls that come out otherwise are shown. A changed
wording is no change; another kind or class of cwd is.";

/// Arguments of `policy replay`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// Calls, a line each; - : standard input
    #[arg(value_name = "FILE")]
    calls: PathBuf,
    /// Settings now; without it everything is off
    #[arg(long, value_name = "FILE")]
    old_settings: Option<PathBuf>,
    /// Module now; without it the settings' one or the built-in one
    #[arg(long, value_name = "FILE")]
    old_module: Option<PathBuf>,
    /// Settings to come; without it those of now
    #[arg(long, value_name = "FILE")]
    new_settings: Option<PathBuf>,
    /// Module to come; without it the settings' one, or that of now
    #[arg(long, value_name = "FILE")]
    new_module: Option<PathBuf>,
    /// End with exit code 1 when a call comes out so
    #[arg(long, value_enum)]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    tools: ToolArguments,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// More is let through
    Looser,
    /// Any change
    Any,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.tools.refuse_stdin()?;
    let old = PolicyArguments {
        settings: arguments.old_settings.clone(),
        profile: None,
        module: arguments.old_module.clone(),
    };
    let other_settings = arguments.new_settings.is_some();
    let new = PolicyArguments {
        settings: arguments.new_settings.clone().or_else(|| arguments.old_settings.clone()),
        profile: None,
        // Settings of its own may name a module of their own.
        module: arguments.new_module.clone().or_else(|| arguments.old_module.clone().filter(|_| !other_settings)),
    };
    let (old, new) = (setup::judge(&old, &arguments.tools)?, setup::judge(&new, &arguments.tools)?);
    let human = arguments.output.is_human();
    let mut reader = BufReader::with_capacity(64 << 10, input::open(&arguments.calls)?);
    let mut out = output::stdout();
    let (mut line, mut number, mut unreadable) = (Vec::new(), 0_u64, 0_u64);
    let mut counts = Comparison::default();
    loop {
        number += 1;
        let call =
            match input::next_line(&mut reader, &mut line).map_err(|e| input::unreadable(&arguments.calls, &e))? {
                Line::End => break,
                Line::Text if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Text => recorded(&line),
                Line::TooLong => Err(RecordError::new("line-too-long", input::too_long())),
            };
        let call = match call {
            Ok(call) => call,
            Err(error) => {
                unreadable += 1;
                refuse(&mut out, number, &error, human)?;
                continue;
            }
        };
        let (before, after) =
            (old.judge(&call, FactSource::Record, false), new.judge(&call, FactSource::Record, false));
        let change = compare(&before.verdict, &after.verdict);
        counts.count(change);
        let Some(change) = change else { continue };
        if human {
            let word = match change {
                Change::Looser => "looser",
                Change::Stricter => "stricter",
                Change::OtherReason => "other reason",
            };
            let (from, to) = (output::word(before.verdict.decision), output::word(after.verdict.decision));
            writeln!(out, "{word:<12}  {:<10}  {from} -> {to}  {}", visible(&call.id.0), after.verdict.reason)?;
        } else {
            let record = json!({
                "change": change,
                "old": before.verdict.record(&call.id, old.policy()),
                "new": after.verdict.record(&call.id, new.policy()),
            });
            output::json_line(&mut out, &record)?;
        }
    }
    if human {
        writeln!(
            out,
            "{} calls: {} the same, {} stricter, {} looser, {} for another reason",
            counts.calls, counts.same, counts.stricter, counts.looser, counts.other_reason
        )?;
    } else {
        output::json_line(&mut out, &json!({ "summary": counts, "unreadable": unreadable }))?;
    }
    out.flush()?;
    let failed = match arguments.fail_on {
        None => false,
        Some(FailOn::Looser) => counts.looser > 0,
        Some(FailOn::Any) => counts.same < counts.calls,
    };
    Ok(if failed || unreadable > 0 { Exit::BadInput } else { Exit::Done })
}

/// A call, by itself or in the record of an audit trail.
fn recorded(line: &[u8]) -> Result<Call, RecordError> {
    let parsed = toolwarden_json::parse_lenient(line)?;
    match (parsed.fault, parsed.value) {
        (None, Value::Object(mut record)) if record.get("call").is_some_and(Value::is_object) => {
            let call = record.remove("call").unwrap_or_default();
            Call::from_json(call.to_string().as_bytes())
        }
        _ => Call::from_json(line),
    }
}

fn refuse(out: &mut dyn Write, line: u64, error: &RecordError, human: bool) -> Result<(), Failure> {
    if human {
        writeln!(out, "error  line {line}: {} [{}]", visible(&error.message), error.code)?;
    } else {
        output::json_line(out, &json!({ "line": line, "error": { "code": error.code, "message": error.message } }))?;
    }
    Ok(())
}
