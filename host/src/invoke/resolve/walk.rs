//! The walk from the root to the end of a path, one name at a time.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::disk::{Found, Look};
use super::error::ResolveError;
use super::text::{Dialect, Form, form, without_verbatim};
use super::{MAX_LINKS, MAX_PATH_BYTES};

/// [`real_path`](super::real_path) on any file system, by any system's rules.
pub(super) fn walk(path: &Path, files: &impl Look, dialect: Dialect) -> Result<PathBuf, ResolveError> {
    let plain = without_verbatim(path);
    let path = plain.as_ref();
    let given = || path.to_path_buf();
    match form(&path.to_string_lossy()) {
        Form::Plain => {}
        Form::Nul => return Err(ResolveError::Nul { path: given() }),
        Form::Network => return Err(ResolveError::NetworkPath { path: given() }),
    }
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return Err(ResolveError::Io { path: given(), kind: io::ErrorKind::InvalidFilename });
    }
    if !path.is_absolute() {
        return Err(ResolveError::NotAbsolute { path: given() });
    }
    let Route { root, steps } = Route::of(path);
    if steps.contains(&Step::Parent) {
        return Err(ResolveError::ParentSegment { path: given() });
    }
    if !all_kept(&steps, dialect) {
        return Err(ResolveError::Ambiguous { path: given() });
    }
    let mut walk =
        Walk { files, dialect, real: root, reached: Reached::Folder, rest: Vec::new(), links: 0, jumped: false };
    walk.go_on(steps);
    walk.run()
}

/// A path's text, taken apart.
struct Route {
    /// Prefix and root; empty for a relative path.
    root: PathBuf,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Name(OsString),
    Parent,
    /// What was reached must be a folder: the text ends with a separator, or with `.` behind one.
    Folder,
}

impl Route {
    fn of(path: &Path) -> Self {
        let mut root = PathBuf::new();
        let mut steps = Vec::new();
        for component in path.components() {
            match component {
                Component::Prefix(_) | Component::RootDir => root.push(component),
                Component::CurDir => {}
                Component::ParentDir => steps.push(Step::Parent),
                Component::Normal(name) => steps.push(Step::Name(name.to_owned())),
            }
        }
        if names_a_folder(path) {
            steps.push(Step::Folder);
        }
        Self { root, steps }
    }
}

/// Whether a text ends with a separator, or with `.` behind one; [`Path::components`] drops both.
fn names_a_folder(path: &Path) -> bool {
    let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    match path.as_os_str().as_encoded_bytes() {
        [.., last] if is_separator(last) => true,
        [.., before, b'.'] => is_separator(before),
        _ => false,
    }
}

/// Whether the system uses all names as they are written.
fn all_kept(steps: &[Step], dialect: Dialect) -> bool {
    steps.iter().all(|step| match step {
        Step::Name(name) => dialect.keeps(&name.to_string_lossy()),
        Step::Parent | Step::Folder => true,
    })
}

/// What stands at the end of the path so far.
#[derive(Clone, Copy)]
enum Reached {
    Folder,
    Other,
    Missing,
}

struct Walk<'a, F> {
    files: &'a F,
    dialect: Dialect,
    /// The path so far, absolute and without a link.
    real: PathBuf,
    reached: Reached,
    /// What is still to do, the next step last.
    rest: Vec<Step>,
    links: u32,
    /// Whether a link has led to an absolute path.
    jumped: bool,
}

impl<F: Look> Walk<'_, F> {
    fn run(mut self) -> Result<PathBuf, ResolveError> {
        while let Some(step) = self.rest.pop() {
            match (self.reached, step) {
                (Reached::Folder, Step::Name(name)) => {
                    self.real.push(name);
                    self.look()?;
                }
                (Reached::Folder, Step::Parent) => {
                    // At the root it stays there, as the system does.
                    self.real.pop();
                }
                (Reached::Missing, Step::Name(name)) => self.real.push(name),
                (Reached::Missing, Step::Parent) => return Err(ResolveError::ParentOfMissing { path: self.real }),
                (Reached::Folder | Reached::Missing, Step::Folder) => {}
                (Reached::Other, _) => return Err(ResolveError::NotAFolder { path: self.real }),
            }
        }
        Ok(self.real)
    }

    fn go_on(&mut self, steps: Vec<Step>) {
        self.rest.extend(steps.into_iter().rev());
    }

    /// Looks at the name that was just appended.
    fn look(&mut self) -> Result<(), ResolveError> {
        match self.files.look(&self.real) {
            Ok(Found::Missing) => self.reached = Reached::Missing,
            Ok(Found::Folder) => {}
            Ok(Found::Other) => self.reached = Reached::Other,
            Ok(Found::Link(target)) => return self.follow(&without_verbatim(&target)),
            Err(error) => return Err(ResolveError::Io { path: self.real.clone(), kind: error.kind() }),
        }
        Ok(())
    }

    /// Follows the link that the path so far ends with.
    fn follow(&mut self, target: &Path) -> Result<(), ResolveError> {
        let link = self.real.clone();
        if self.links == MAX_LINKS {
            return Err(ResolveError::TooManyLinks { link });
        }
        self.links += 1;
        if self.dialect == Dialect::Posix && link.starts_with("/proc") {
            return Err(ResolveError::PerProcessLink { link });
        }
        match form(&target.to_string_lossy()) {
            Form::Plain => {}
            Form::Nul => return Err(ResolveError::Nul { path: target.to_path_buf() }),
            Form::Network => return Err(ResolveError::NetworkTarget { link, target: target.to_path_buf() }),
        }
        if target.as_os_str().is_empty() {
            // Some systems allow it, and none follows it.
            return Err(ResolveError::Io { path: link, kind: io::ErrorKind::NotFound });
        }
        let Route { root, steps } = Route::of(target);
        if target.has_root() {
            // On Windows `\x` has a root and no drive: it is on the link's drive.
            self.real = if target.is_absolute() { root } else { top(&link) };
            self.jumped = true;
        } else if root.as_os_str().is_empty() {
            self.real.pop();
        } else {
            // `C:x`: relative to a folder that only the process knows.
            return Err(ResolveError::Ambiguous { path: link });
        }
        if !all_kept(&steps, self.dialect) || !self.knows_parents(&steps) {
            return Err(ResolveError::Ambiguous { path: link });
        }
        self.go_on(steps);
        Ok(())
    }

    /// Whether it is known which folder each `..` of a target leaves.
    ///
    /// On posix it is the folder really reached. The Windows kernel counts from where a junction stands, not from where
    /// it leads, and a junction looks here like any absolute link; and a `..` behind a name may have been taken out of
    /// the text together with it before the name was followed. What is left to follow is `..` in front of a relative
    /// target, as long as no link was absolute.
    fn knows_parents(&self, steps: &[Step]) -> bool {
        match self.dialect {
            Dialect::Posix => true,
            Dialect::Windows => {
                let behind_a_name = steps.iter().skip_while(|step| **step == Step::Parent).any(|s| *s == Step::Parent);
                let any = steps.contains(&Step::Parent);
                !any || !(self.jumped || behind_a_name)
            }
        }
    }
}

/// The root of an absolute path.
fn top(path: &Path) -> PathBuf {
    path.ancestors().last().unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests;
