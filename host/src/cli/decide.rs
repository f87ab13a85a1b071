//! `toolwarden decide`: one verdict a call, in the order of the calls.

use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::data::AuditArguments;
use super::exit::{Exit, Failure, Outcome};
use super::input::{self, Line};
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments, ToolArguments};
use crate::call::{Call, RecordError};
use crate::invoke::{FactSource, Judge, State};
use crate::lifecycle::{Reloader, Watch, WatchOptions};
use toolwarden_text::visible;

const EXAMPLES: &str = r#"Examples:
  toolwarden decide --profile dangerous calls.jsonl
  toolwarden decide --settings toolwarden.toml --tools github.json < calls.jsonl
  toolwarden decide --settings toolwarden.toml --watch     a service: calls in, verdicts out, policy reloaded meanwhile

A call is a line of JSON:
  {"id":"c1","tool":"Bash","arguments":{"command":"ls","cwd":"/etc"},"route":"direct","attendance":"interactive",
   "workspace":{"root":"/repo","flavour":"posix"}}
route is direct or bridge; attendance is interactive, remote, delegated or scheduled; flavour is posix or windows.
A line that cannot be read is answered with {"line":N,"error":{...}}, and the exit code is 1."#;

/// Arguments of `decide`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Calls, a line each; - or nothing: standard input
    #[arg(default_value = "-", value_name = "FILE", hide_default_value = true)]
    calls: PathBuf,
    /// Follow links on this machine; without it only what the records say counts, and no file system is touched
    #[arg(long)]
    resolve: bool,
    /// Take another module and other settings when their files change, or on SIGHUP; what happens is told on standard error
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    audit: AuditArguments,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    tools: ToolArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.tools.refuse_stdin()?;
    let policy = InForce::new(arguments)?;
    let source = if arguments.resolve { FactSource::ThisMachine } else { FactSource::Record };
    let human = arguments.output.is_human();
    let mut reader = BufReader::with_capacity(64 << 10, input::open(&arguments.calls)?);
    let mut out: Box<dyn Write> = if human { Box::new(output::human_stdout()) } else { Box::new(output::stdout()) };
    let progress = if human { indicatif::ProgressBar::hidden() } else { output::spinner("calls judged:") };
    let mut exit = Exit::Done;
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        number += 1;
        // Whoever waits for answers before asking on gets them: nothing is held back while the input has nothing ready.
        if reader.buffer().is_empty() {
            out.flush()?;
        }
        let call =
            match input::next_line(&mut reader, &mut line).map_err(|e| input::unreadable(&arguments.calls, &e))? {
                Line::End => break,
                Line::Text if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Text => Call::from_json(&line),
                Line::TooLong => Err(RecordError::new("line-too-long", input::too_long())),
            };
        match call {
            Ok(call) => answer(&mut out, &policy.judge(), &call, source, human)?,
            Err(error) => {
                exit = Exit::BadInput;
                refuse(&mut out, number, &error, human)?;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    out.flush()?;
    Ok(exit)
}

/// What judges: always the same, or whatever is in force when a call comes.
enum InForce {
    Fixed(Arc<Judge>),
    Watched { state: Arc<State>, _watch: Watch, _reloader: Arc<Reloader> },
}

impl InForce {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        if !arguments.watch {
            if arguments.audit.is_asked() {
                let text = "--data keeps what happens to the policy, so it goes with --watch";
                return Err(Failure::text(Exit::Usage, text));
            }
            return Ok(Self::Fixed(Arc::new(setup::judge(&arguments.policy, &arguments.tools)?)));
        }
        let audit = arguments.audit.log()?;
        let reloader = setup::reloader(&arguments.policy, &arguments.tools, audit.as_ref())?;
        let watch = Watch::start(&reloader, WatchOptions::default())
            .map_err(|e| Failure::text(Exit::Usage, format!("the files cannot be watched: {e}")))?;
        Ok(Self::Watched { state: Arc::clone(reloader.state()), _watch: watch, _reloader: reloader })
    }

    fn judge(&self) -> Arc<Judge> {
        match self {
            Self::Fixed(judge) => Arc::clone(judge),
            Self::Watched { state, .. } => state.current(),
        }
    }
}

fn answer(out: &mut dyn Write, judge: &Judge, call: &Call, source: FactSource, human: bool) -> Result<(), Failure> {
    let judged = judge.judge(call, source, false);
    let verdict = judged.verdict;
    if !human {
        output::json_line(out, &verdict.record(&call.id, judge.policy()))?;
        return Ok(());
    }
    let style = output::style(verdict.decision);
    let word = output::word(verdict.decision);
    let tool = judged.effective.map_or_else(|| call.tool.clone(), |e| e.tool.public_name);
    write!(out, "{style}{word:<5}{style:#}  {:<8}  {:<14}  {}", visible(&call.id.0), visible(&tool), verdict.reason)?;
    if !verdict.detail.is_empty() {
        write!(out, "\n{:33}{}", "", verdict.detail)?;
    }
    if let Some(kind) = &verdict.kind {
        write!(out, " [{kind}]")?;
    }
    writeln!(out)?;
    Ok(())
}

fn refuse(out: &mut dyn Write, line: u64, error: &RecordError, human: bool) -> Result<(), Failure> {
    if human {
        writeln!(out, "error  line {line}: {} [{}]", visible(&error.message), error.code)?;
    } else {
        let record = json!({ "line": line, "error": { "code": error.code, "message": error.message } });
        output::json_line(out, &record)?;
    }
    Ok(())
}
