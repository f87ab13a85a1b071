//! Cargo, as an author would call it, and two things that authors forget: the target, and the paths of their machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::sources::{Local, local_packages};
use super::{AuthoringError, Face};

/// The target of policy modules. A program built for one of the WASI targets imports interfaces that it does not use.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Builds a crate and gives the path of the `.wasm` file.
pub(super) fn build(folder: &Path, face: Face, features: &[String]) -> Result<PathBuf, AuthoringError> {
    ensure_target(folder)?;
    let mut cargo = command("cargo", folder);
    cargo.args(["build", "--release", "--lib", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    if face == Face::CoreModule {
        cargo.args(["--no-default-features", "--features", "core-module"]);
    }
    if !features.is_empty() {
        cargo.args(["--features", &features.join(",")]);
    }
    if std::env::var_os("RUSTFLAGS").is_none() && std::env::var_os("CARGO_ENCODED_RUSTFLAGS").is_none() {
        cargo.env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(folder)?);
    }
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| no_program("cargo", &e))?;
    if !output.status.success() {
        return Err(AuthoringError::CargoFailed);
    }
    artifact(&output.stdout, folder).ok_or(AuthoringError::NoArtifact)
}

/// What `cargo metadata` says about the workspace of the crate in a folder. Without dependencies, so that nothing is fetched.
pub(super) fn metadata(folder: &Path) -> Result<Value, AuthoringError> {
    let output = command("cargo", folder)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| no_program("cargo", &e))?;
    if !output.status.success() {
        return Err(AuthoringError::CargoFailed);
    }
    serde_json::from_slice(&output.stdout).map_err(|_| AuthoringError::CargoFailed)
}

/// Cargo reports each artifact in a line of JSON; the crate's own is the last `.wasm` of a package in this folder.
fn artifact(messages: &[u8], folder: &Path) -> Option<PathBuf> {
    let manifest = folder.join("Cargo.toml").canonicalize().ok()?;
    let lines = messages.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let ours = lines.filter(|message| {
        message["reason"] == "compiler-artifact"
            && message["manifest_path"].as_str().is_some_and(|p| Path::new(p) == manifest)
    });
    let files = ours.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    files
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .rfind(|file| file.extension().is_some_and(|e| e == "wasm"))
}

/// Finds the target's library, or lets rustup add it.
fn ensure_target(folder: &Path) -> Result<(), AuthoringError> {
    if has_target(folder)? {
        return Ok(());
    }
    let added = command("rustup", folder).args(["target", "add", TARGET]).output();
    let problem = match added {
        Ok(output) if output.status.success() && has_target(folder)? => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => no_program("rustup", &error).to_string(),
    };
    Err(AuthoringError::NoTarget(problem))
}

fn has_target(folder: &Path) -> Result<bool, AuthoringError> {
    let output = command("rustc", folder)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|e| no_program("rustc", &e))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && std::fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some()))
}

/// Flags that keep the paths of this machine out of the module, so that it is the same wherever it is built.
fn remapped_paths(folder: &Path) -> Result<OsString, AuthoringError> {
    let mut flags = Vec::new();
    let mut remap = |from: &Path, to: &str| {
        flags.push(OsString::from("--remap-path-prefix"));
        let mut flag = from.as_os_str().to_owned();
        flag.push("=");
        flag.push(to);
        flags.push(flag);
    };
    // Local crates may lie outside of the crate's own workspace.
    for Local { folder, .. } in local_packages(&folder.canonicalize().map_err(AuthoringError::io(folder))?)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        remap(&folder, &format!("/build/{name}"));
    }
    if let Some(root) = metadata(folder)?["workspace_root"].as_str() {
        remap(Path::new(root), "/build");
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let sources = home.map(|home| home.join("registry").join("src"));
    for registry in sources.iter().flat_map(std::fs::read_dir).flatten().flatten() {
        remap(&registry.path(), "/crates");
    }
    Ok(flags.join(&OsString::from("\u{1f}")))
}

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn no_program(program: &str, error: &std::io::Error) -> AuthoringError {
    AuthoringError::NoProgram { program: program.into(), problem: error.to_string() }
}
