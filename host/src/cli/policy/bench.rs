//! `toolwarden policy bench`.

use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::call::Call;
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::input;
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments, ToolArguments};
use crate::invoke::FactSource;
use crate::module::{Component, ConfigureError, Isolation, LoadError, PolicyModule};

const EXAMPLES: &str = "Examples:
  toolwarden policy bench my-policy.wasm
  toolwarden policy bench my-policy.wasm --settings toolwarden.toml --calls calls.jsonl
  toolwarden policy bench                      the built-in module

Compile: from the file's bytes. Instance: a new one, under the settings. Fresh: a call on an instance of its own. Warm: a call
on an instance that has served others. Compare modules in runs on one machine, one after the other.";

/// A call like many.
const TYPICAL: &str = r#"{"id":"typical","tool":"Bash","arguments":{"command":"cargo test --release","cwd":"crates/core"},
  "route":"direct","attendance":"interactive","workspace":{"root":"/repo","flavour":"posix","home":"/home/u"}}"#;

/// Arguments of `policy bench`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module; without it the settings' one or the built-in one
    module: Option<PathBuf>,
    /// Settings that it runs under
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Calls to measure with, a line each; default: a shell in the workspace
    #[arg(long, value_name = "FILE")]
    calls: Option<PathBuf>,
    /// Time for each measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// What was measured: the median and the 99th percentile.
struct Figure {
    what: &'static str,
    median: Duration,
    p99: Duration,
    times: usize,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let policy =
        PolicyArguments { settings: arguments.settings.clone(), profile: None, module: arguments.module.clone() };
    let settings = policy.settings()?;
    let calls = calls(arguments)?;
    let time = Duration::from_secs(arguments.seconds);
    let refused = |e: &LoadError| Failure::text(Exit::Module, format!("{e} [{}]", e.code()));
    let mut figures = Vec::new();

    let progress = output::spinner("measuring");
    let load = || match &settings.module_path {
        None => Component::embedded(settings.limits),
        Some(path) => Component::read(path).and_then(|bytes| Component::from_bytes(&bytes, settings.limits)),
    };
    let what = if settings.module_path.is_some() { "compile" } else { "load" };
    figures.push(measure(what, time, || load().map(drop).map_err(|e| refused(&e)))?);
    let component = Arc::new(load().map_err(|e| refused(&e))?);
    let text = settings.policy_json();
    let configured = |e: ConfigureError| match e {
        ConfigureError::Rejected(_) => Failure::new(Exit::Usage, e),
        ConfigureError::Fault(fault) => Failure::text(Exit::Module, format!("{fault} [{}]", fault.code())),
    };
    figures.push(measure("instance", time, || {
        PolicyModule::new(Arc::clone(&component), &text).map(drop).map_err(configured)
    })?);
    for (what, isolation) in [("fresh call", Isolation::PerCall), ("warm call", Isolation::Pooled)] {
        let mut settings = settings.clone();
        settings.limits.isolation = isolation;
        let judge = setup::judge_under(&settings, &ToolArguments::default())?;
        let mut next = calls.iter().cycle();
        figures.push(measure(what, time, || {
            if let Some(call) = next.next() {
                black_box(judge.judge(black_box(call), FactSource::Record, false));
            }
            Ok(())
        })?);
    }
    progress.finish_and_clear();

    let mut out = output::stdout();
    if arguments.output.is_human() {
        let mut table = output::table(["what", "median", "99th percentile", "times"]);
        for figure in &figures {
            let Figure { what, median, p99, times } = figure;
            table.add_row([(*what).to_owned(), format!("{median:.2?}"), format!("{p99:.2?}"), times.to_string()]);
        }
        writeln!(out, "{table}")?;
    } else {
        for Figure { what, median, p99, times } in &figures {
            let (median, p99) = (median.as_nanos(), p99.as_nanos());
            output::json_line(&mut out, &json!({ "what": what, "medianNs": median, "p99Ns": p99, "times": times }))?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn calls(arguments: &Arguments) -> Result<Vec<Call>, Failure> {
    let text = match &arguments.calls {
        None => TYPICAL.replace('\n', " ").into_bytes(),
        Some(path) => input::whole_file(path)?,
    };
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let call = |(at, line)| {
        Call::from_json(line).map_err(|e| Failure::text(Exit::BadInput, format!("line {}: {e} [{}]", at + 1, e.code)))
    };
    let calls = lines.map(call).collect::<Result<Vec<_>, _>>()?;
    if calls.is_empty() { Err(Failure::text(Exit::BadInput, "there is no call to measure with")) } else { Ok(calls) }
}

/// Runs something for a time, at least three times and a million times at most.
fn measure(
    what: &'static str,
    time: Duration,
    mut run: impl FnMut() -> Result<(), Failure>,
) -> Result<Figure, Failure> {
    let mut taken = Vec::new();
    let start = Instant::now();
    while taken.len() < 3 || (start.elapsed() < time && taken.len() < 1_000_000) {
        let before = Instant::now();
        run()?;
        taken.push(before.elapsed());
    }
    taken.sort_unstable();
    let at = |share: usize| taken.get(taken.len() * share / 100).copied().unwrap_or_default();
    Ok(Figure { what, median: at(50), p99: at(99), times: taken.len() })
}
