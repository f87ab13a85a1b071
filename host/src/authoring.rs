//! From an idea to a policy module: a [new] crate, and what is [built](build) from one by plain cargo, with the component
//! around it.

#[allow(clippy::indexing_slicing, reason = "reading a JSON value by index answers null and never panics")]
mod cargo;
mod new;
#[allow(clippy::indexing_slicing, reason = "reading a JSON value by index answers null and never panics")]
mod sources;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub use cargo::TARGET;
pub use new::{NewError, new};
pub use sources::{SECTION, digest_of, stored_digest};

/// What to make of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A component behind `wit/policy.wit`.
    Component,
    /// A core module with a JSON memory interface: the crate's features `core-module` instead of its default ones.
    CoreModule,
}

/// Why nothing was built.
#[derive(Debug, Error)]
pub enum AuthoringError {
    /// The folder holds no crate.
    #[error("`{0}` holds no Cargo.toml")]
    NoCrate(PathBuf),
    /// The WebAssembly target is missing and could not be added.
    #[error("the WebAssembly target is missing; type: rustup target add {TARGET}\n{0}")]
    NoTarget(String),
    /// A program could not be run.
    #[error("cannot run `{program}`: {problem}")]
    NoProgram {
        /// The program.
        program: String,
        /// What the system said.
        problem: String,
    },
    /// Cargo failed; it has said why.
    #[error("cargo failed; its messages stand above")]
    CargoFailed,
    /// The crate makes no WebAssembly.
    #[error("the crate made no .wasm file; its Cargo.toml needs: [lib] crate-type = [\"cdylib\"]")]
    NoArtifact,
    /// What cargo made does not become a component.
    #[error("the module does not become a component: {0}")]
    NotEncodable(String),
    /// A file could not be read or written.
    #[error("`{path}`: {problem}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
}

impl AuthoringError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, problem: error.to_string() }
    }
}

/// Builds the crate in a folder, with these features besides those that the face needs, and gives the module's bytes. They
/// carry a digest of the crate's sources.
///
/// # Errors
///
/// [`AuthoringError`] that says what to do.
pub fn build(folder: &Path, face: Face, features: &[String]) -> Result<Vec<u8>, AuthoringError> {
    if !folder.join("Cargo.toml").is_file() {
        return Err(AuthoringError::NoCrate(folder.into()));
    }
    let digest = digest_of(folder)?;
    let artifact = cargo::build(folder, face, features)?;
    let core = std::fs::read(&artifact).map_err(AuthoringError::io(&artifact))?;
    let module = match face {
        Face::CoreModule => core,
        Face::Component => componentize(&core).map_err(|e| AuthoringError::NotEncodable(format!("{e:#}")))?,
    };
    Ok(sources::with_digest(module, &digest))
}

fn componentize(core: &[u8]) -> anyhow::Result<Vec<u8>> {
    wit_component::ComponentEncoder::default().validate(true).module(core)?.encode()
}
