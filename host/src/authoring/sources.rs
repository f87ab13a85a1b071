//! The digest of a module's sources, which the built module carries, so that a test can tell when they have moved on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::AuthoringError;
use super::cargo;

/// Name of the custom section that holds the digest.
pub const SECTION: &str = "toolwarden-sources";

/// SHA-256 over the sources of the crate in a folder and of every local crate that it depends on: manifest, build script,
/// `src/`, and the `wit` folder nearest to the one that makes bindings of it. Shown as `sha256:<hex>`.
///
/// # Errors
///
/// [`AuthoringError`] where cargo or a file cannot be read.
pub fn digest_of(folder: &Path) -> Result<String, AuthoringError> {
    let folder = folder.canonicalize().map_err(AuthoringError::io(folder))?;
    let mut files = BTreeMap::new();
    for Local { folder, has_bindings } in local_packages(&folder)? {
        let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        for part in ["Cargo.toml", "build.rs", ".cargo", "src"] {
            collect(&folder.join(part), &format!("{name}/{part}"), &mut files)?;
        }
        // The contract lies in the crate that makes bindings of it, or above.
        let wit = folder.ancestors().take(4).map(|f| f.join("wit")).find(|wit| has_bindings && wit.is_dir());
        if let Some(wit) = wit {
            collect(&wit, "wit", &mut files)?;
        }
    }
    let mut hash = Sha256::new();
    for (name, path) in files {
        let bytes = std::fs::read(&path).map_err(AuthoringError::io(&path))?;
        // Lengths keep two neighbouring files from passing for two others.
        for part in [name.as_bytes(), &bytes] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().iter().fold(String::from("sha256:"), |text, byte| format!("{text}{byte:02x}")))
}

/// The digest that a module carries.
#[must_use]
pub fn stored_digest(module: &[u8]) -> Option<String> {
    let at = module.windows(SECTION.len()).rposition(|window| window == SECTION.as_bytes())?;
    String::from_utf8(module.get(at + SECTION.len()..)?.to_vec()).ok()
}

/// The module with the digest in a custom section at its end.
pub(super) fn with_digest(mut module: Vec<u8>, digest: &str) -> Vec<u8> {
    let mut section = vec![u8::try_from(SECTION.len()).unwrap_or_default()];
    section.extend(SECTION.bytes());
    section.extend(digest.bytes());
    // A section's length is LEB128: below 128 it is one byte, and ours has 90.
    module.push(0);
    module.push(u8::try_from(section.len()).unwrap_or_default());
    module.extend(section);
    module
}

/// A crate that is not from a registry.
pub(super) struct Local {
    /// Where it lies.
    pub folder: PathBuf,
    /// Whether it makes bindings of the contract.
    has_bindings: bool,
}

/// The crate in a folder, and all local crates that it needs.
pub(super) fn local_packages(folder: &Path) -> Result<Vec<Local>, AuthoringError> {
    let mut wanted = vec![folder.to_owned()];
    let mut found: Vec<Local> = Vec::new();
    while let Some(folder) = wanted.pop() {
        if found.iter().any(|local| local.folder == folder) {
            continue;
        }
        let metadata = cargo::metadata(&folder)?;
        let manifest = folder.join("Cargo.toml");
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let own = packages.iter().find(|p| p["manifest_path"].as_str().is_some_and(|m| Path::new(m) == manifest));
        let dependencies = own.and_then(|package| package["dependencies"].as_array()).map(Vec::as_slice);
        let needed = || dependencies.unwrap_or_default().iter().filter(|d| d["kind"] != "dev");
        wanted.extend(needed().filter_map(|d| d["path"].as_str().map(PathBuf::from)));
        found.push(Local { folder, has_bindings: needed().any(|d| d["name"] == "wit-bindgen") });
    }
    Ok(found)
}

fn collect(path: &Path, name: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<(), AuthoringError> {
    if path.is_file() {
        files.insert(name.into(), path.into());
    } else if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(AuthoringError::io(path))? {
            let entry = entry.map_err(AuthoringError::io(path))?;
            collect(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), files)?;
        }
    }
    Ok(())
}
