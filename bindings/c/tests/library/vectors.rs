//! Every vector through the C library, to the byte.

use std::io::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::install::{installed, target};
use crate::support::{HERE, Language, Linking, output, run};

/// Vectors that there are at least.
const LEAST: usize = 750;

#[test]
fn the_verdicts_are_those_of_decide_to_the_byte() -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "--locked", "-p", "toolwarden-harness", "--example", "golden"]);
    let golden = output(cargo.arg("--target-dir").arg(target()?).current_dir(HERE))?;
    let mut input = Vec::new();
    let mut vectors = 0;
    for line in String::from_utf8(golden.stdout)?.lines() {
        let vector: Value = serde_json::from_str(line)?;
        let (options, record) = (vector["options"].to_string(), vector["record"].to_string());
        let verdict = vector["verdict"].as_str().context("no verdict")?;
        writeln!(input, "{} {} {}", options.len(), record.len(), verdict.len())?;
        input.extend([options.as_str(), &record, verdict].concat().bytes());
        vectors += 1;
    }
    assert!(vectors >= LEAST, "only {vectors} vectors");
    let program = installed()?.build(Language::C11, "tests/programs/golden.c", Linking::Shared)?;
    let answer = run(&mut Command::new(program), &input)?;
    assert_eq!(String::from_utf8(answer.stdout)?, format!("{vectors} vectors, 0 wrong\n"));
    Ok(())
}
