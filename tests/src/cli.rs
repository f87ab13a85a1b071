//! The command line, as a user runs it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The built program. It lies beside the test's own folder.
///
/// # Errors
///
/// Where it was not built.
pub fn program() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(|deps| deps.parent()).context("no target folder")?;
    let program = folder.join("toolwarden").with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(
        program.is_file(),
        "{} is missing; run the tests of the whole workspace, as README.md says",
        program.display()
    );
    Ok(program)
}

/// Runs the program with this standard input. It keeps no compiled modules: a test leaves nothing in the user's folders.
///
/// # Errors
///
/// Where it cannot be run.
pub fn run(arguments: &[&str], input: &[u8]) -> Result<Output> {
    run_with(&[("TOOLWARDEN_CACHE", "off")], arguments, input)
}

/// Runs the program with these variables set.
///
/// # Errors
///
/// Where it cannot be run.
pub fn run_with(variables: &[(&str, &str)], arguments: &[&str], input: &[u8]) -> Result<Output> {
    let mut child = Command::new(program()?)
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let input = input.to_vec();
    // A program that ends before it has read everything is no failure of ours.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(output)
}

/// The JSON lines that a run wrote.
///
/// # Errors
///
/// Where a line is no JSON.
pub fn lines(output: &Output) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(&output.stdout)?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}
