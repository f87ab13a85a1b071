//! A new crate for a policy module, with all that it needs.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What the build script packed: `FILES` of the kit, its `NAMES`, its part of a
/// `WORKSPACE`, the `LOCK` of what it needs, and the `PROFILE` of modules.
mod packed {
    include!(concat!(env!("OUT_DIR"), "/vendor.rs"));
}

/// What is written besides the kit.
const TEMPLATE: [(&str, &str); 8] = [
    (".gitignore", include_str!("template/gitignore.in")),
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("README.md", include_str!("template/README.md.in")),
    ("src/lib.rs", include_str!("template/lib.rs.in")),
    ("toolwarden.toml", include_str!("template/toolwarden.toml.in")),
    ("vectors/cwd.jsonl", include_str!("template/cwd.jsonl.in")),
    ("vectors/gate.jsonl", include_str!("template/gate.jsonl.in")),
    ("vendor/README.md", include_str!("template/vendor.md.in")),
];

/// Characters of a name at most. Source: the limit of the common crate registry.
const LONGEST_NAME: usize = 64;

/// Words that no crate can be called: Rust's own, and folders of cargo's. Source: `cargo new`, which refuses them too.
const RESERVED: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    // Devices of Windows: a folder of that name cannot be made there.
    "aux",
    "com1",
    "com2",
    "com3",
    "com4",
    "com5",
    "com6",
    "com7",
    "com8",
    "com9",
    "con",
    "lpt1",
    "lpt2",
    "lpt3",
    "lpt4",
    "lpt5",
    "lpt6",
    "lpt7",
    "lpt8",
    "lpt9",
    "nul",
    "prn",
];

/// Why no crate was made. Nothing is left behind.
#[derive(Debug, Error)]
pub enum NewError {
    /// The last part of the path is no name for a crate.
    #[error("`{name}` cannot be the name of a crate: {problem}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Something is there already.
    #[error("`{0}` exists and is not an empty folder")]
    Exists(PathBuf),
    /// A file or folder could not be written.
    #[error("cannot write `{path}`: {problem}")]
    Unwritable {
        /// Where.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
}

impl NewError {
    /// The code, as it stands in `docs/codes.md`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "bad-crate-name",
            Self::Exists(_) => "folder-exists",
            Self::Unwritable { .. } => "folder-unwritable",
        }
    }

    fn unwritable(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Unwritable { path, problem: error.to_string() }
    }
}

/// Makes a crate in a folder that does not exist yet or is empty, and gives its name, which is that of the folder. The crate
/// holds a module with a rule of its own, tests, vectors, settings, and the sources of the kit: it builds outside of this
/// repository with nothing but Rust and a crate registry.
///
/// # Errors
///
/// [`NewError`]. The crate is written beside its place and then moved there, so that it is there whole or not at all.
pub fn new(folder: &Path) -> Result<String, NewError> {
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    if let Some(problem) = fault(&name) {
        return Err(NewError::BadName { name, problem });
    }
    // A link that leads nowhere is something, too.
    if folder.symlink_metadata().is_ok() && !fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(NewError::Exists(folder.into()));
    }
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside =
        tempfile::Builder::new().prefix(".toolwarden-new-").tempdir_in(parent).map_err(NewError::unwritable(folder))?;
    // One deeper: a temporary folder is its owner's alone, and a crate need not be.
    let whole = beside.path().join(&name);
    for (path, content) in files(&name) {
        let file = whole.join(&path);
        let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, content));
        written.map_err(NewError::unwritable(&folder.join(&path)))?;
    }
    // Elsewhere an empty folder is replaced as it stands.
    #[cfg(windows)]
    if folder.is_dir() {
        fs::remove_dir(folder).map_err(NewError::unwritable(folder))?;
    }
    fs::rename(&whole, folder).map_err(NewError::unwritable(folder))?;
    Ok(name)
}

/// All files, by their paths in the crate.
fn files(name: &str) -> Vec<(String, String)> {
    let filled = |text: &str| text.replace("{{name}}", name).replace("{{version}}", env!("CARGO_PKG_VERSION"));
    let mut files: Vec<(String, String)> =
        TEMPLATE.iter().map(|(path, text)| ((*path).to_owned(), filled(text))).collect();
    if let Some((_, manifest)) = files.iter_mut().find(|(path, _)| path == "Cargo.toml") {
        manifest.push_str(packed::WORKSPACE);
    }
    files.push((".cargo/config.toml".into(), packed::PROFILE.into()));
    files.push(("Cargo.lock".into(), packed::LOCK.into()));
    files.extend(packed::FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    files
}

/// What is wrong with a name.
fn fault(name: &str) -> Option<&'static str> {
    let word = name.replace('-', "_");
    if name.is_empty() || name.len() > LONGEST_NAME {
        Some("a name has 1 to 64 characters")
    } else if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Some("a name starts with one of `a` to `z`")
    } else if !name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_')) {
        Some("a name has letters `a` to `z`, digits, `-` and `_` only")
    } else if RESERVED.contains(&word.as_str()) {
        Some("Rust, cargo or the system uses this word")
    } else if packed::NAMES.contains(&name) {
        Some("a crate of the kit is called so")
    } else {
        None
    }
}
