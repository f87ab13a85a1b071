//! Where the user's cache lies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{CacheError, CachePolicy};

/// The variable that turns the cache off, or names another folder.
const VARIABLE: &str = "TOOLWARDEN_CACHE";

/// The folder that the system has for such things, and in it our own. A relative path would depend on where the program was
/// started, so it counts for nothing.
pub(super) fn of_user(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
) -> Result<CachePolicy, CacheError> {
    match variable(VARIABLE) {
        Some(word) if word == "off" => return Ok(CachePolicy::Off),
        Some(path) if PathBuf::from(&path).is_absolute() => return Ok(CachePolicy::Folder(path.into())),
        Some(_) => return Err(CacheError::Place("TOOLWARDEN_CACHE is neither `off` nor an absolute path")),
        None => {}
    }
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below_home = |folder: &str| home.filter(|home| home.is_absolute()).map(|home| home.join(folder));
    let folder = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        below_home("Library/Caches")
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| below_home(".cache"))
    };
    match folder {
        Some(folder) => Ok(CachePolicy::Folder(folder.join("toolwarden").join("modules"))),
        None => Err(CacheError::Place("the environment names neither a cache folder nor a home")),
    }
}
