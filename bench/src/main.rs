//! `toolwarden-bench`: measures what Toolwarden's decisions cost and prints it as a table.
//!
//! Three columns: **cold**, with the module compiled for it; **fresh**, with an instance made for it; **warm**, with an
//! instance that served before. Beside them the same functions built **native**. A figure is the median, and in brackets the
//! 99th percentile, of batches: of a hundred calls where a call takes microseconds. Compare figures of one run only.

mod decision;
mod machine;
mod module;
mod peers;
mod process;
mod registry;
mod subject;
mod swap;
mod table;
mod timing;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::json;

use machine::Machine;
use subject::Subject;
use table::Row;
use timing::Plan;

const USAGE: &str = "usage: toolwarden-bench [--quick] [--json] [--peers]

  --quick  rough figures within ten seconds, to see that everything runs
  --json   a line of JSON for the machine and for each row
  --peers  other engines as well; compiles them first";

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Options {
    quick: bool,
    json: bool,
    peers: bool,
}

impl Options {
    /// None where an argument is none of ours.
    fn read(arguments: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut options = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--peers" => options.peers = true,
                _ => return None,
            }
        }
        Some(options)
    }
}

fn main() -> ExitCode {
    let Some(options) = Options::read(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<()> {
    let machine = Machine::here();
    let rows = measure(options, &machine)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", json!({ "machine": machine.json(), "quick": options.quick }))?;
        for row in &rows {
            writeln!(out, "{}", row.json())?;
        }
        return Ok(());
    }
    let quick = if options.quick { "; --quick, so the figures are rough" } else { "" };
    writeln!(
        out,
        "{machine}{quick}\nmedian (99th percentile); cold: compiled for it; fresh: instance made for it; warm: instance used before\n"
    )?;
    write!(out, "{}", table::text(&rows))?;
    Ok(())
}

fn measure(options: Options, machine: &Machine) -> Result<Vec<Row>> {
    let plan = if options.quick { Plan::QUICK } else { Plan::WHOLE };
    let subject = Subject::new()?;
    let mut rows = Vec::new();
    rows.extend(section("decisions", || decision::rows(&subject, machine, plan))?);
    rows.extend(section("registries", || registry::rows(&subject, plan))?);
    rows.extend(section("the module", || module::rows(&subject, plan))?);
    rows.extend(section("processes", || process::rows(plan))?);
    rows.extend(section("swaps", || swap::rows(plan))?);
    if options.peers {
        rows.extend(section("other engines", || peers::rows(options.quick))?);
    }
    Ok(rows)
}

/// Some rows; whoever waits at a terminal sees what for.
fn section(name: &'static str, rows: impl FnOnce() -> Result<Vec<Row>>) -> Result<Vec<Row>> {
    if std::io::stderr().is_terminal() {
        eprintln!("measuring: {name}");
    }
    rows().context(name)
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_are_read() {
        let read = |arguments: &[&str]| Options::read(arguments.iter().map(|&a| a.to_owned()));
        assert_eq!(read(&[]), Some(Options::default()));
        assert_eq!(read(&["--json", "--quick"]), Some(Options { quick: true, json: true, peers: false }));
        assert_eq!(read(&["--fast"]), None);
    }
}
