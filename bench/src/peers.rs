//! Other engines, timed by a program of their own, so that nobody compiles them who does not ask.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::table::Row;
use crate::timing::Figure;

/// Where the program's crate lies in the repository.
const MANIFEST: &str = "bench/peers/Cargo.toml";

/// The rows that the other program measures, on the same machine and straight after ours.
pub fn rows(quick: bool) -> Result<Vec<Row>> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "--release", "--quiet", "--manifest-path", MANIFEST]).current_dir(repository()?);
    if quick {
        command.args(["--", "--quick"]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("cargo does not start")?;
    ensure!(output.status.success(), "the other engines cannot be timed: {}", output.status);
    String::from_utf8(output.stdout)?.lines().map(row).collect()
}

/// The repository's folder: the current one or one above it, or one above this program.
fn repository() -> Result<PathBuf> {
    let (here, program) = (std::env::current_dir()?, std::env::current_exe()?);
    let found = here.ancestors().chain(program.ancestors()).find(|folder| folder.join(MANIFEST).is_file());
    found.map(Path::to_owned).with_context(|| format!("there is no {MANIFEST}; start this from the repository"))
}

/// A line of the other program. These engines are native, so that is the column.
fn row(line: &str) -> Result<Row> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("no line of JSON: {line}"))?;
    let text = |field: &str| value.get(field).and_then(Value::as_str).with_context(|| format!("no `{field}`: {line}"));
    let number =
        |field: &str| value.get(field).and_then(Value::as_f64).with_context(|| format!("no `{field}`: {line}"));
    let (median, p99) = (number("median_ns")?, number("p99_ns")?);
    let figure = Figure { p5: number("p5_ns").unwrap_or(median), median, p99 };
    let what = format!("{} {}, {}", text("peer")?, text("version")?, text("what")?);
    Ok(Row { native: figure.into(), ..Row::new(what) })
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn lines_become_rows() {
        let line = r#"{"peer":"cedar","version":"4.14.1","what":"evaluate","median_ns":5900,"p99_ns":7000}"#;
        let row = row(line).unwrap();
        assert_eq!(row.what, "cedar 4.14.1, evaluate");
        assert_eq!(row.json()["native"]["median_ns"], 5900.0);
        assert!(super::row("{}").is_err());
    }
}
