//! `toolwarden explain`: one call, with every rule that was looked at.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;
use toolwarden_text::visible;

use super::exit::{Exit, Failure, Outcome};
use super::input;
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments, ToolArguments};
use crate::call::Call;
use crate::invoke::FactSource;
use crate::module::StepOutcome;

const EXAMPLES: &str = "Examples:
  toolwarden explain --profile locked call.json
  head -1 calls.jsonl | toolwarden explain --profile dangerous";

/// Arguments of `explain`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The call, as for decide; - or nothing: standard input
    #[arg(default_value = "-", value_name = "FILE", hide_default_value = true)]
    call: PathBuf,
    /// Follow links on this machine
    #[arg(long)]
    resolve: bool,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    tools: ToolArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.tools.refuse_stdin()?;
    let judge = setup::judge(&arguments.policy, &arguments.tools)?;
    let source = if arguments.resolve { FactSource::ThisMachine } else { FactSource::Record };
    let text = input::whole_file(&arguments.call)?;
    let call = Call::from_json(&text).map_err(|e| Failure::text(Exit::BadInput, format!("{e} [{}]", e.code)))?;
    let judged = judge.judge(&call, source, true);
    let verdict = &judged.verdict;
    let mut out = output::human_stdout();

    if arguments.output.json {
        let mut record = serde_json::to_value(verdict.record(&call.id, judge.policy())).unwrap_or_default();
        if let Some(record) = record.as_object_mut() {
            record.insert("trail".into(), json!(judged.trail));
        }
        output::json_line(&mut out, &record)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let style = output::style(verdict.decision);
    writeln!(out, "{style}{}{style:#}: {}", output::word(verdict.decision), verdict.reason)?;
    if let Some(effective) = &judged.effective {
        let known = if effective.registered { "" } else { ", which the registry does not hold" };
        writeln!(out, "  tool      {}{known}", visible(&effective.tool.public_name))?;
    }
    if let Some(kind) = &verdict.kind {
        writeln!(out, "  kind      {kind}")?;
    }
    if !verdict.detail.is_empty() {
        writeln!(out, "  target    {}", verdict.detail)?;
    }
    let policy = judge.policy();
    writeln!(out, "  policy    {} {}, {}", policy.name, policy.version, policy.digest)?;
    if judged.trail.is_empty() {
        writeln!(out, "  rules     none: the host refused the call before the policy was asked")?;
    } else {
        writeln!(out, "  rules, in the order in which they were looked at:")?;
    }
    for step in &judged.trail {
        let mark = if step.outcome == StepOutcome::Decided { "=>" } else { "- " };
        writeln!(out, "   {mark} {:<17} {}", step.rule, step.note)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
