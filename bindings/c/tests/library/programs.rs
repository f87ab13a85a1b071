//! Programs that use the library wrongly, from many threads, and across forks. Each ends by itself where something does not hold.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::install::installed;
use crate::support::{HERE, Language, Linking, run};

/// A policy module that misbehaves where its settings say so.
pub const HABITS: &str = "tests/guests/habits.wasm";

fn ends_well(name: &str, arguments: &[&str]) -> Result<()> {
    for linking in [Linking::Shared, Linking::Static] {
        let program = installed()?.build(Language::C11, &format!("tests/programs/{name}.c"), linking)?;
        run(Command::new(program).args(arguments), b"")?;
    }
    Ok(())
}

#[test]
fn every_function_on_every_way_out() -> Result<()> {
    let habits = Path::new(HERE).join("../..").join(HABITS);
    ends_well("every", &["3", &habits.to_string_lossy()])
}

#[test]
fn a_forked_child_is_told_so_and_its_parent_goes_on() -> Result<()> {
    ends_well("forks", &["50"])
}

#[test]
fn sixteen_threads_share_handles_that_are_closed_under_them() -> Result<()> {
    ends_well("threads", &["16", "10000"])
}

#[test]
fn a_library_that_is_let_go_stays_loaded() -> Result<()> {
    let installed = installed()?;
    let program = installed.build(Language::C11, "tests/programs/load.c", Linking::Shared)?;
    run(Command::new(program).arg(installed.library().join("libtoolwarden.so.1")), b"").map(drop)
}
