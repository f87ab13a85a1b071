//! Why nobody knows where a path leads.

use std::io;
use std::path::{Path, PathBuf};

use toolwarden_text::{DETAIL_CHARS, clip};

/// Why a path has no real path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The path, or a link's target, holds a NUL character.
    #[error("`{}` holds a NUL character", shown(path))]
    Nul {
        /// The text.
        path: PathBuf,
    },
    /// The path itself has the form of a network or device path.
    #[error("`{}` has the form of a network or device path", shown(path))]
    NetworkPath {
        /// The path.
        path: PathBuf,
    },
    /// A link's target has the form of a network or device path.
    #[error("the link `{}` leads to `{}`, which has the form of a network or device path", shown(link), shown(target))]
    NetworkTarget {
        /// The link.
        link: PathBuf,
        /// Its target.
        target: PathBuf,
    },
    /// The path is relative.
    #[error("`{}` is not absolute", shown(path))]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// The path itself has a `..` segment.
    #[error("`{}` has a `..` segment", shown(path))]
    ParentSegment {
        /// The path.
        path: PathBuf,
    },
    /// A link's target goes on with `..` behind something that does not exist.
    #[error("a link leads to `..` behind `{}`, which does not exist", shown(path))]
    ParentOfMissing {
        /// What does not exist.
        path: PathBuf,
    },
    /// The path, or a link's target, goes on behind something that is no folder.
    #[error("`{}` is not a folder", shown(path))]
    NotAFolder {
        /// What is no folder.
        path: PathBuf,
    },
    /// More than [`MAX_LINKS`](super::MAX_LINKS) links on the way; most likely they lead in a circle.
    #[error("more than {} links on the way, the last is `{}`", super::MAX_LINKS, shown(link))]
    TooManyLinks {
        /// The first link that was not followed.
        link: PathBuf,
    },
    /// A link that leads elsewhere for every process.
    #[error("the link `{}` leads elsewhere for every process", shown(link))]
    PerProcessLink {
        /// The link.
        link: PathBuf,
    },
    /// A name, or a link's target, that Windows may read as another one.
    #[error("the system may read `{}` in another way", shown(path))]
    Ambiguous {
        /// The path or the link.
        path: PathBuf,
    },
    /// The file system did not answer: no permission, a name too long, a failing disk.
    #[error("cannot look at `{}`: {kind}", shown(path))]
    Io {
        /// What was looked at.
        path: PathBuf,
        /// What the system said.
        kind: io::ErrorKind,
    },
}

impl ResolveError {
    /// A stable code, one for each kind of error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Nul { .. } => "nul",
            Self::NetworkPath { .. } => "network-path",
            Self::NetworkTarget { .. } => "network-target",
            Self::NotAbsolute { .. } => "not-absolute",
            Self::ParentSegment { .. } => "parent-segment",
            Self::ParentOfMissing { .. } => "parent-of-missing",
            Self::NotAFolder { .. } => "not-a-folder",
            Self::TooManyLinks { .. } => "too-many-links",
            Self::PerProcessLink { .. } => "per-process-link",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Io { .. } => "io",
        }
    }
}

/// A path as a message shows it: on one line, without characters that hide or turn others, and not without end.
fn shown(path: &Path) -> String {
    clip(&path.to_string_lossy(), DETAIL_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_plain_line() {
        let error = ResolveError::NotAbsolute { path: "C:\\a\n'b'\u{202e}c".into() };
        assert_eq!(error.to_string(), "`C:\\a\\n'b'\\u{202e}c` is not absolute");
        let long = ResolveError::NotAbsolute { path: "ä".repeat(DETAIL_CHARS + 1).into() };
        assert_eq!(long.to_string(), format!("`{}…` is not absolute", "ä".repeat(DETAIL_CHARS)));
        let io = ResolveError::Io { path: "/a".into(), kind: io::ErrorKind::PermissionDenied };
        assert_eq!((io.to_string().as_str(), io.code()), ("cannot look at `/a`: permission denied", "io"));
    }
}
