//! A temporary tree to resolve paths in.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A temporary tree; gone when dropped.
pub struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // The temporary folder itself may lie behind a link.
        let root = fs::canonicalize(folder.path()).expect("it exists");
        Self { _folder: folder, root }
    }

    /// A path below the tree's root, spelled as given.
    pub fn at(&self, path: &str) -> PathBuf {
        let mut text = self.root.clone().into_os_string();
        text.push("/");
        text.push(path);
        text.into()
    }

    pub fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).expect("a new folder");
    }

    pub fn file(&self, path: &str) {
        fs::write(self.at(path), "").expect("a new file");
    }

    pub fn link(&self, path: &str, target: &str) {
        symlink(self.target(target), self.at(path)).expect("a new link");
    }

    /// A link's target: what starts with `@` is absolute, from the tree's root on.
    pub fn target(&self, text: &str) -> PathBuf {
        text.strip_prefix('@').map_or_else(|| Path::new(text).to_path_buf(), |rest| self.at(rest))
    }
}
