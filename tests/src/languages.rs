//! The example policies: built here where that is asked for, or found where they were built.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use toolwarden::authoring::{self, Face};

use crate::vectors;

/// Builds the examples with what the registries of their languages have; takes minutes.
const BUILD: &str = "TOOLWARDEN_TEST_EXAMPLES";

/// Folder of an example.
#[must_use]
pub fn folder(language: &str) -> PathBuf {
    vectors::folder().join("../examples/policies").join(language)
}

/// The component of an example. None, and a word about it, where there is none to be had.
///
/// # Errors
///
/// Where it was to be built and cannot be.
pub fn component(language: &str, work: &Path) -> Result<Option<PathBuf>> {
    if std::env::var_os(BUILD).is_some_and(|value| value == "1") {
        // One at a time, and each once: tests run side by side.
        static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
        let mut known = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = known.get(language) {
            return Ok(Some(path.clone()));
        }
        let path = built(language, work)?;
        known.insert(language.into(), path.clone());
        return Ok(Some(path));
    }
    let variable = format!("TOOLWARDEN_TEST_{}_MODULE", language.to_uppercase());
    let path = std::env::var_os(&variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: no module in {language}; set {BUILD}=1 to build one, or {variable} to a built one");
    }
    Ok(path)
}

/// Builds an example as its README says, in a copy, so that nothing is left in the repository.
fn built(language: &str, work: &Path) -> Result<PathBuf> {
    let copy = work.join("built").join("examples/policies").join(language);
    if language == "cedar" {
        // In its place: its sources lie beside those of the kit, and its target folder stays.
        let module = authoring::build(&folder(language), Face::Component, &[])?;
        std::fs::create_dir_all(&copy)?;
        std::fs::write(copy.join("policy.wasm"), module)?;
        return Ok(copy.join("policy.wasm"));
    }
    copy_files(&vectors::folder().join("../wit"), &work.join("built/wit"))?;
    copy_files(&folder(language), &copy)?;
    if language == "javascript" {
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&copy))?;
        run(Command::new("npm").args(["run", "build"]).current_dir(&copy))?;
    } else {
        let bin = copy.join(".venv").join(if cfg!(windows) { "Scripts" } else { "bin" });
        run(Command::new("python3").args(["-m", "venv", ".venv"]).current_dir(&copy))?;
        let python = bin.join("python");
        run(Command::new(&python).args(["-m", "pip", "install", "-q", "-r", "requirements.txt"]).current_dir(&copy))?;
        run(Command::new(&python).arg("build.py").current_dir(&copy))?;
    }
    Ok(copy.join("policy.wasm"))
}

/// Copies a folder's sources; what was built or installed there before stays where it is.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (source, target, name) = (entry.path(), to.join(entry.file_name()), entry.file_name());
        let leftover = ["node_modules", ".venv", "__pycache__"].iter().any(|left| name == OsStr::new(left))
            || source.extension().is_some_and(|e| e == "wasm");
        match source.is_dir() {
            _ if leftover => {}
            true => copy_files(&source, &target)?,
            false => std::fs::copy(&source, &target).map(drop)?,
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    ensure!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    Ok(())
}
