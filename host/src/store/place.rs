//! Where data lies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::StoreError;

/// The user's folder for our data. A relative path in a variable would depend on where the program was started, so it counts
/// for nothing.
///
/// # Errors
///
/// [`StoreError::NoPlace`].
pub fn data_folder() -> Result<PathBuf, StoreError> {
    of_user(|name| std::env::var_os(name), std::env::home_dir().as_deref())
}

fn of_user(variable: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Result<PathBuf, StoreError> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below_home = |folder: &str| home.filter(|home| home.is_absolute()).map(|home| home.join(folder));
    let folder = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        below_home("Library/Application Support")
    } else {
        absolute("XDG_DATA_HOME").or_else(|| below_home(".local/share"))
    };
    folder.map(|folder| folder.join("toolwarden")).ok_or(StoreError::NoPlace)
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[test]
    fn data_lies_where_the_system_keeps_it() {
        let home = Path::new("/home/u");
        let with = |value: &'static str| move |name: &str| (name == "XDG_DATA_HOME").then(|| value.into());
        assert_eq!(of_user(with("/data"), Some(home)).unwrap(), Path::new("/data/toolwarden"));
        for variable in ["", "relative"] {
            let found = of_user(with(variable), Some(home)).unwrap();
            assert_eq!(found, Path::new("/home/u/.local/share/toolwarden"));
        }
        for home in [None, Some(Path::new("")), Some(Path::new("home"))] {
            assert_eq!(of_user(|_| None, home).unwrap_err().code(), "store-without-place");
        }
    }
}
