//! `toolwarden-bench-peers`: times two other policy engines on a policy of the same kind as toolwarden's.
//!
//! Prints one JSON line for each engine and each of
//!
//! - `evaluate`: the request is built before, only the decision counts;
//! - `from-json`: the request is built from a JSON text for each decision.
//!
//! Figures are nanoseconds a call, as batch means of 100 calls: `p99_ns` is the 99th percentile of the batches, not of
//! single calls. Each measurement takes 2 seconds, or 0.2 with `--quick`; they take turns, so compare them within a run.

mod call;
mod cedar;
mod peer;
mod rego;
mod timing;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;

use crate::peer::Peer;
use crate::timing::{Figures, Measurement};

/// A measurement and what it is called in the output.
struct Row {
    peer: &'static str,
    version: &'static str,
    what: &'static str,
    measurement: Measurement,
}

/// A line of the output.
#[derive(Serialize)]
struct Line {
    peer: &'static str,
    version: &'static str,
    what: &'static str,
    median_ns: u64,
    p99_ns: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let span = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Duration::from_secs(2),
        ["--quick"] => Duration::from_millis(200),
        _ => {
            eprintln!("usage: toolwarden-bench-peers [--quick]");
            return ExitCode::from(2);
        }
    };
    match run(span) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(span: Duration) -> Result<()> {
    let mut rows = Vec::new();
    rows.extend(rows_of::<cedar::Cedar>()?);
    rows.extend(rows_of::<rego::Interpreter>()?);
    rows.extend(rows_of::<rego::Machine>()?);

    timing::run(rows.iter_mut().map(|row| &mut row.measurement), span)?;
    for Row { peer, version, what, measurement } in &rows {
        let Figures { median_ns, p99_ns } = measurement.figures()?;
        println!("{}", serde_json::to_string(&Line { peer, version, what, median_ns, p99_ns })?);
    }
    Ok(())
}

fn rows_of<P: Peer + 'static>() -> Result<[Row; 2]> {
    check(&mut P::load()?).context(P::NAME)?;
    let version = version(P::CRATE)?;
    let row = |what, measurement| Row { peer: P::NAME, version, what, measurement };

    let text = call::typical().to_string();
    let mut peer = P::load()?;
    let request = peer.parse(&text)?;
    let evaluate = Measurement::new(move || peer.decide(black_box(&request)));
    let mut peer = P::load()?;
    let from_json = Measurement::new(move || {
        let request = peer.parse(black_box(&text))?;
        peer.decide(&request)
    });
    Ok([row("evaluate", evaluate), row("from-json", from_json)])
}

/// A wrong policy is not measured: every verdict is compared first.
fn check<P: Peer>(peer: &mut P) -> Result<()> {
    for (call, expected) in call::checks() {
        let request = peer.parse(&call.to_string())?;
        let verdict = peer.decide(&request)?;
        ensure!(verdict == expected, "{call} got {verdict:?}, expected {expected:?}");
    }
    Ok(())
}

/// The version that this program was built with, from the lock file.
fn version(name: &str) -> Result<&'static str> {
    let entry = format!("name = \"{name}\"");
    let mut lines = include_str!("../Cargo.lock").lines().skip_while(|line| *line != entry);
    lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \""))
        .and_then(|line| line.strip_suffix('"'))
        .with_context(|| format!("no version of `{name}` in the lock file"))
}
