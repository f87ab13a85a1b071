//! Compiled modules, kept from one start to the next: compiling one with a script engine inside takes 15 to 30 seconds.
//!
//! What is kept is machine code, and loading it is running it. So the folder must be the user's own and nobody else's to write,
//! and so must each file; where that is not so, nothing is read or written and the module is compiled as if there were no
//! cache. Each file starts with a digest of what follows and of its own key: one that was torn, cut or renamed is not loaded.
//! The digest is no seal. Whoever can write as the user has won already.

#[cfg_attr(unix, path = "cache/owner_unix.rs")]
#[cfg_attr(not(unix), path = "cache/owner_other.rs")]
mod owner;
mod place;

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::digest::Digest;

/// Files at most; beyond it the ones that were not used for longest go.
const FILES: usize = 64;
/// Bytes of all files at most.
const BYTES: u64 = 1 << 30;
/// What a file starts with; the number changes with the layout.
const MAGIC: [u8; 16] = *b"toolwarden-c\x00\x00\x00\x01";
/// A half-written file that is older than this was left behind.
const LEFT_BEHIND: Duration = Duration::from_hours(1);
const EXTENSION: &str = "cwasm";
const TEMPORARY: &str = ".writing-";

/// Where compiled modules are kept. The default module needs none: it is compiled ahead of time.
///
/// ```
/// use toolwarden::module::CachePolicy;
///
/// // A library writes nothing unless it is told to.
/// assert_eq!(CachePolicy::default(), CachePolicy::Off);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CachePolicy {
    /// Nowhere: every module is compiled where it is loaded. The default.
    #[default]
    Off,
    /// In this folder, which is made if it is not there. On Unix it must be the user's own, and nobody else's to write.
    Folder(PathBuf),
}

/// Why the cache is not used. Modules are compiled all the same.
#[derive(Debug, Error)]
pub enum CacheError {
    /// It belongs to somebody else.
    #[error("`{}` belongs to somebody else", .0.display())]
    Foreign(PathBuf),
    /// Others could put code into it.
    #[error("`{}` can be written by others", .0.display())]
    Writable(PathBuf),
    /// It is a link, a device or something else that it should not be.
    #[error("`{}` is not a plain {wanted}", .path.display())]
    Misshapen {
        /// Where.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// The system says no.
    #[error("`{}`: {problem}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        #[source]
        problem: io::Error,
    },
    /// The environment names no place that would do.
    #[error("{0}")]
    Place(&'static str),
}

impl CacheError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Foreign(_) => "cache-foreign",
            Self::Writable(_) => "cache-writable-by-others",
            Self::Misshapen { .. } => "cache-misshapen",
            Self::Io { .. } => "cache-unreadable",
            Self::Place(_) => "cache-without-place",
        }
    }
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheReport {
    /// Compiled modules.
    pub modules: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Machine code out of the cache: from a file of the user's own that nobody else can write, whole, and made for this key.
pub(super) struct Verified(Vec<u8>);

impl Verified {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Which machine code: of this component, as this engine would compile it.
#[derive(Clone, Debug)]
pub(super) struct Key(String);

impl Key {
    pub fn new(engine: &wasmtime::Engine, component: Digest) -> Self {
        let mut hasher = DefaultHasher::new();
        // Engines of other versions, processors or settings have another one. Should two agree by accident, wasmtime still
        // looks at what it is given and refuses it.
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let digest = component.to_string();
        Self(format!("{}-{:016x}", digest.trim_start_matches("sha256:"), hasher.finish()))
    }
}

impl CachePolicy {
    /// The user's own cache folder; `TOOLWARDEN_CACHE` says `off`, or another folder, as an absolute path.
    ///
    /// # Errors
    ///
    /// [`CacheError::Place`] where the environment names no folder.
    pub fn of_user() -> Result<Self, CacheError> {
        place::of_user(|name| std::env::var_os(name), std::env::home_dir().as_deref())
    }

    /// What the cache holds; nothing where there is none.
    ///
    /// # Errors
    ///
    /// [`CacheError`] that says why the cache is not used.
    pub fn report(&self) -> Result<CacheReport, CacheError> {
        let Self::Folder(folder) = self else { return Ok(CacheReport { modules: 0, bytes: 0 }) };
        match checked_folder(folder) {
            Err(CacheError::Io { problem, .. }) if problem.kind() == io::ErrorKind::NotFound => {
                Ok(CacheReport { modules: 0, bytes: 0 })
            }
            Err(error) => Err(error),
            Ok(()) => {
                let kept = kept(folder).map_err(|problem| CacheError::Io { path: folder.clone(), problem })?;
                Ok(CacheReport { modules: kept.len(), bytes: kept.iter().map(|file| file.bytes).sum() })
            }
        }
    }

    /// The code of this key, if it is there and as it was written.
    pub(super) fn load(&self, key: &Key) -> Result<Option<Verified>, CacheError> {
        let Self::Folder(folder) = self else { return Ok(None) };
        let path = file_of(folder, key);
        let fail = |problem| CacheError::Io { path: path.clone(), problem };
        match checked_folder(folder).and_then(|()| owner::open(&path)) {
            Err(CacheError::Io { problem, .. }) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(file) => {
                // Over the limit of all files together, it is none that was written here.
                if file.metadata().map_err(fail)?.len() > BYTES {
                    return Ok(None);
                }
                let mut bytes = Vec::new();
                (&file).take(BYTES).read_to_end(&mut bytes).map_err(fail)?;
                let code = opened(bytes, key);
                if code.is_some() {
                    // So that what is used is kept. Where the system does not let us, it only goes earlier.
                    let _ = file.set_modified(SystemTime::now());
                }
                Ok(code)
            }
        }
    }

    /// Keeps code, and lets go of what was not used for longest.
    pub(super) fn store(&self, key: &Key, code: &[u8]) -> Result<(), CacheError> {
        let Self::Folder(folder) = self else { return Ok(()) };
        let fail = |problem| CacheError::Io { path: folder.clone(), problem };
        owner::make(folder).map_err(fail)?;
        checked_folder(folder)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder).map_err(fail)?;
        file.write_all(&MAGIC).and_then(|()| file.write_all(&seal(key, code))).map_err(fail)?;
        file.write_all(code).map_err(fail)?;
        // Whole or not at all: a reader sees the old file, the new one or none. What a power cut tears, the digest tells.
        file.persist(file_of(folder, key)).map_err(|error| fail(error.error))?;
        tidy(folder).map_err(fail)
    }
}

fn file_of(folder: &Path, key: &Key) -> PathBuf {
    folder.join(&key.0).with_extension(EXTENSION)
}

/// Whether the folder is one that nobody else can write.
fn checked_folder(folder: &Path) -> Result<(), CacheError> {
    let metadata =
        fs::symlink_metadata(folder).map_err(|problem| CacheError::Io { path: folder.to_owned(), problem })?;
    if !metadata.is_dir() {
        return Err(CacheError::Misshapen { path: folder.to_owned(), wanted: "folder" });
    }
    owner::check(folder, &metadata)
}

/// Digest of code and key, so that a file under another's name is none either.
fn seal(key: &Key, code: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(key.0.as_bytes()).chain_update(code).finalize().into()
}

/// The code of a file, if it is whole.
fn opened(mut bytes: Vec<u8>, key: &Key) -> Option<Verified> {
    let (magic, rest) = bytes.split_first_chunk::<16>()?;
    let (sealed, code) = rest.split_first_chunk::<32>()?;
    if *magic != MAGIC || *sealed != seal(key, code) {
        return None;
    }
    bytes.drain(..MAGIC.len() + 32);
    Some(Verified(bytes))
}

/// A file of the cache.
struct Kept {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

fn kept(folder: &Path) -> io::Result<Vec<Kept>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Somebody else may tidy up at the same time.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_file() && path.extension().is_some_and(|e| e == EXTENSION) {
            all.push(Kept { path, bytes: metadata.len(), used: metadata.modified()? });
        }
    }
    Ok(all)
}

/// Removes what is too much, and what was left half-written.
fn tidy(folder: &Path) -> io::Result<()> {
    let mut all = kept(folder)?;
    all.sort_by_key(|file| std::cmp::Reverse(file.used));
    let mut bytes = 0_u64;
    for (index, file) in all.iter().enumerate() {
        let with_it = bytes.saturating_add(file.bytes);
        if index >= FILES || with_it > BYTES {
            gone(&file.path)?;
        } else {
            bytes = with_it;
        }
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let old = |file: &fs::Metadata| file.modified().is_ok_and(|t| t.elapsed().is_ok_and(|age| age > LEFT_BEHIND));
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) && entry.metadata().is_ok_and(|m| old(&m)) {
            gone(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file that somebody else may have removed already.
fn gone(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file without following a link where the system lets us say so.
fn plain_file(path: &Path, options: &fs::OpenOptions) -> Result<File, CacheError> {
    let fail = |problem| CacheError::Io { path: path.to_owned(), problem };
    let shape = fs::symlink_metadata(path).map_err(fail)?;
    if !shape.is_file() {
        return Err(CacheError::Misshapen { path: path.to_owned(), wanted: "file" });
    }
    options.open(path).map_err(fail)
}

#[cfg(test)]
mod tests;
