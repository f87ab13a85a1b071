//! A process of the command line, from its start to its first verdict.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::subject::LINE;
use crate::table::Row;
use crate::timing::{Measurement, Plan, samples};

/// Nanoseconds from the start to the first verdict.
const FIRST: f64 = 10_000_000.0;

/// The rows on processes.
pub fn rows(plan: Plan) -> Result<Vec<Row>> {
    let program = program()?;
    let (decide, version): (&[&str], &[&str]) = (&["decide", "--profile", "locked"], &["--version"]);
    let said = &first_line(&program, decide)?.line;
    ensure!(said.contains(r#""verdict":"allow""#), "the program does not allow the call: {said}");
    let plan = Plan { samples: plan.samples * 5, ..plan };
    let [first, start] = samples(
        [
            Measurement::prepared(|| decide, |arguments| first_line(&program, arguments)),
            Measurement::prepared(|| version, |arguments| first_line(&program, arguments)),
        ],
        plan,
    )?;
    Ok(vec![
        Row { cold: first.into(), ..Row::new("process start to first verdict") }
            .reach("<= 10 ms", first.median <= FIRST),
        Row { cold: start.into(), ..Row::new("process start to its version") },
    ])
}

/// The built program, beside this one.
fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("toolwarden").with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(
        program.is_file(),
        "there is no `toolwarden` beside this program; `cargo build --release --workspace` builds it"
    );
    Ok(program)
}

/// A process that has written its first line. Its end is waited for when this is dropped, outside the time.
struct Started {
    line: String,
    child: Child,
}

impl Drop for Started {
    fn drop(&mut self) {
        // A process that cannot be waited for leaves nothing to do about it.
        let _ = self.child.wait();
    }
}

/// Starts the program, gives it one call, and waits for its first line.
fn first_line(program: &Path, arguments: &[&str]) -> Result<Started> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the program does not start")?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let mut started = Started { line: String::new(), child };
    // A program that does not read its input may be gone already; what it wrote counts. The input stays open until then, so
    // that nobody waits for its end.
    let mut stdin = stdin.context("no standard input")?;
    let _ = writeln!(stdin, "{LINE}");
    BufReader::new(stdout.context("no standard output")?).read_line(&mut started.line)?;
    ensure!(started.line.ends_with('\n'), "the program wrote no line");
    Ok(started)
}
