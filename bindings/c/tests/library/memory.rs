//! The programs under valgrind.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::install::installed;
use crate::programs::HABITS;
use crate::support::{HERE, Language, Linking, run};

/// What is lost counts, and nothing else: a table that lives on in a static is pointed into, not at, and reads as "possibly lost".
const LEAKS: [&str; 3] =
    ["--leak-check=full", "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect"];
/// A forked child has no threads but one; what the others held on their stacks is lost in it, and that is no leak.
const NO_LEAKS: [&str; 1] = ["--leak-check=no"];

/// Whether valgrind is there. Without it these tests skip, saying so.
fn is_there() -> bool {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: there is no valgrind");
    }
    found
}

/// Runs a program under valgrind, which must find nothing; gives what valgrind wrote.
fn clean(name: &str, leaks: &[&str], arguments: &[&str]) -> Result<String> {
    let program = installed()?.build(Language::C11, &format!("tests/programs/{name}.c"), Linking::Shared)?;
    let suppressions = Path::new(HERE).join("tests/valgrind.supp");
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--error-exitcode=9").arg(format!("--suppressions={}", suppressions.display()));
    let output = run(valgrind.args(leaks).arg(program).args(arguments), b"")?;
    Ok(String::from_utf8(output.stderr)?)
}

/// Bytes and blocks that a program still had when it ended.
fn in_use(report: &str) -> Result<&str> {
    let line = report.lines().find_map(|line| line.split_once("in use at exit: "));
    Ok(line.context("valgrind wrote no summary")?.1)
}

#[test]
fn every_way_out_leaks_nothing_and_touches_nothing_else() -> Result<()> {
    if is_there() {
        let habits = Path::new(HERE).join("../..").join(HABITS);
        clean("every", &LEAKS, &["1", &habits.to_string_lossy()])?;
        // What is kept for ever is kept once: not a byte more after three rounds than after one.
        let (once, thrice) = (clean("every", &LEAKS, &["1"])?, clean("every", &LEAKS, &["3"])?);
        assert_eq!(in_use(&once)?, in_use(&thrice)?);
    }
    Ok(())
}

#[test]
fn sixteen_threads_leak_nothing_and_touch_nothing_else() -> Result<()> {
    if is_there() {
        clean("threads", &LEAKS, &["16", "50"])?;
    }
    Ok(())
}

#[test]
fn a_forked_child_touches_nothing_else() -> Result<()> {
    if is_there() {
        clean("forks", &NO_LEAKS, &["5"])?;
    }
    Ok(())
}
