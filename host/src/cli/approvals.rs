//! `toolwarden approvals`: the questions that wait in the store, and a person's answers.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use serde_json::json;
use toolwarden_text::visible;

use super::data::DataArguments;
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, OutputArguments};
use crate::approval::{AnswerError, Approval, Broker, Shown, Since, Ticket};

/// Commands on questions.
#[derive(Subcommand)]
pub(super) enum Command {
    /// The question that is shown now, and how many wait
    Show(ShowArguments),
    /// Answer the question that is shown
    Answer(AnswerArguments),
}

/// Arguments of `approvals show`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  toolwarden approvals show
  toolwarden approvals show --json")]
pub(super) struct ShowArguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Arguments of `approvals answer`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  toolwarden approvals answer 236655c8d1edbd81949c5f61feb0d11d allow
  toolwarden approvals answer 236655c8d1edbd81949c5f61feb0d11d reject

A yes lets one call run, once. Exit code 1: the answer does not count, and why is said.")]
pub(super) struct AnswerArguments {
    /// Ticket of the question, as `approvals show` tells it
    ticket: String,
    /// The answer
    #[arg(value_enum)]
    answer: Answer,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum Answer {
    /// This one call runs, once
    Allow,
    /// It does not run
    Reject,
}

pub(super) fn run(command: &Command) -> Outcome {
    match command {
        Command::Show(arguments) => show(arguments),
        Command::Answer(arguments) => answer(arguments),
    }
}

fn broker(arguments: &DataArguments) -> Result<Broker, Failure> {
    // Whoever looks for questions must not make an empty store where there is none.
    drop(arguments.to_read()?);
    Ok(Broker::new(Arc::new(arguments.to_write()?), Duration::ZERO))
}

fn show(arguments: &ShowArguments) -> Outcome {
    let (shown, waiting) = broker(&arguments.data)?.shown().map_err(|error| failed(&error))?;
    if !arguments.output.is_human() {
        let mut out = output::stdout();
        output::json_line(&mut out, &json!({ "waiting": waiting, "question": shown }))?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let mut out = output::human_stdout();
    match shown {
        None => writeln!(out, "no question waits")?,
        Some(question) => written(&mut out, &question, waiting)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn written(out: &mut dyn std::io::Write, question: &Shown, waiting: u64) -> std::io::Result<()> {
    let tool = question.server.as_ref().map_or_else(|| question.tool.clone(), |s| format!("{s} / {}", question.tool));
    writeln!(out, "A tool call needs your word ({} more wait).", waiting.saturating_sub(1))?;
    writeln!(out, "  tool    {}", visible(&tool))?;
    writeln!(out, "  why     {} ({})", visible(&question.reason), visible(&question.kind))?;
    writeln!(out, "  risk    {}", visible(&question.risk.en))?;
    writeln!(out, "          {}", visible(&question.risk.zh))?;
    writeln!(out, "  target  {}", visible(&question.detail))?;
    writeln!(out, "  since   {}", visible(&since(&question.since)))?;
    for (index, line) in question.lines.iter().enumerate() {
        writeln!(out, "  {}  {}", if index == 0 { "call  " } else { "      " }, visible(line))?;
    }
    writeln!(out, "toolwarden approvals answer {} allow|reject", visible(question.ticket.as_str()))
}

fn since(since: &Since) -> String {
    match since {
        Since::First => "no call of this tool was allowed before".into(),
        Since::Same => "the arguments are those of the last call that was allowed".into(),
        Since::Changed { added, removed, changed } => {
            let part = |what: &str, names: &[String]| {
                if names.is_empty() { String::new() } else { format!("{what} {}", names.join(", ")) }
            };
            let parts = [part("new:", added), part("gone:", removed), part("other:", changed)];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
        }
    }
}

fn answer(arguments: &AnswerArguments) -> Outcome {
    let answer = match arguments.answer {
        Answer::Allow => Approval::AllowedOnce,
        Answer::Reject => Approval::Rejected,
    };
    let broker = broker(&arguments.data)?;
    broker.answer(&Ticket::from(arguments.ticket.as_str()), answer).map_err(|error| failed(&error))?;
    let mut out = output::stdout();
    output::json_line(&mut out, &json!({ "answered": answer }))?;
    out.flush()?;
    Ok(Exit::Done)
}

fn failed(error: &AnswerError) -> Failure {
    Failure::text(Exit::BadInput, format!("{error} [{}]", error.code()))
}
