//! The real path of a path that may not exist yet.
//!
//! A path that lies below a workspace by its text may lead out of it through a link. [`real_path`] says where it truly
//! leads, also for a file that the call is about to create. [`may_touch`] says whether a text may reach the file system
//! at all.
//!
//! # What an answer is worth
//!
//! It is a statement about the past. Between the answer and the use of the path, anyone who may write below it can put
//! a link where a folder was, or nothing; no function that hands back a path can prevent that. So:
//!
//! - resolve again just before the call is dispatched, and refuse when the answer is no longer the one that was judged;
//! - hand on the real path, not the text it came from: what is left to swap is then a real folder, not a link;
//! - what must hold against a program that runs at the same time has to be held by the system: a sandbox, another user,
//!   or files opened relative to a folder that is already open.
//!
//! # What no answer shows
//!
//! - Hard links and mounts are no links: a file with a second name outside, or a folder mounted inside, is inside.
//! - Names are spelled as given. Where the file system ignores letter case or knows short names (`PROGRA~1`), two
//!   spellings of one folder come back as two paths. [`std::fs::canonicalize`] tells the spelling on the disk;
//!   this does not, since it must not follow what was not judged. Compared letter by letter, such a path can count as
//!   outside by mistake, never as inside.
//! - A drive letter may stand for another machine, and an automounter may turn a local name (`/net/…`) into one. Neither
//!   can be told by text; somebody with the rights to do so has set it up.

mod disk;
mod error;
mod text;
mod walk;

use std::path::{Path, PathBuf};

pub use error::ResolveError;
pub use text::may_touch;

/// Links followed on the way to one path, at most. Source: Linux, where the 41st is an error (`MAXSYMLINKS`).
pub const MAX_LINKS: u32 = 40;

/// Length of a path, at most, in bytes. Source: Windows, which takes the longest of all systems, 32 767 units. A
/// system's own limit is lower on most, and shows as [`ResolveError::Io`].
pub const MAX_PATH_BYTES: usize = 32 * 1024;

/// Where a path leads once every link on its way is followed, whether or not it exists.
///
/// What exists is resolved as [`std::fs::canonicalize`] does it. From the first name that does not exist, the rest is
/// appended as it is. A link that leads to nothing is followed too: the answer is what would be created through it. The
/// `..` in a link's target leaves the folder that was really reached, as the system does it.
///
/// The path must be absolute and free of `..`; [`may_touch`] must hold for its text and for every link's target, and is
/// asked before the file system is. On Windows `\\?\C:\x` is taken as `C:\x`, and the answer is always spelled so.
///
/// # Errors
///
/// Every error means that nobody knows where the path leads; whoever asks must take it as outside. Stricter than the
/// system:
///
/// - a link below `/proc` is refused: where it leads depends on the process that asks, and the tool is another one;
/// - on Windows, names that it rewrites (a trailing dot or blank, `CON`, a stream) and `..` in a link's target behind a
///   name or an absolute link are refused, since the kernel, Win32 and this function may each read them differently.
///
/// ```
/// use toolwarden::invoke::{ResolveError, real_path};
/// use std::path::Path;
///
/// let folder = std::env::temp_dir();
/// let real = std::fs::canonicalize(&folder)?;
/// # #[cfg(not(windows))]
/// assert_eq!(real_path(&folder.join("not-yet/here.txt")), Ok(real.join("not-yet/here.txt")));
/// assert_eq!(real_path(Path::new("src")), Err(ResolveError::NotAbsolute { path: "src".into() }));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn real_path(path: &Path) -> Result<PathBuf, ResolveError> {
    walk::walk(path, &disk::Disk, text::Dialect::HERE)
}
