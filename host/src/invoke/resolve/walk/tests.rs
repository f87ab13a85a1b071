//! The walk on a made-up file system: what it looks at, what it makes of faults, and the rules of Windows.
//!
//! All paths are spelled in posix form, so these tests run where such a path is absolute.
#![cfg(not(windows))]

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;

/// A file system that is a table, and that remembers what was asked.
#[derive(Default)]
struct Table {
    entries: BTreeMap<PathBuf, Found>,
    faults: BTreeMap<PathBuf, io::ErrorKind>,
    asked: RefCell<Vec<PathBuf>>,
}

impl Table {
    fn of(rows: &[(&str, Found)]) -> Self {
        Self { entries: rows.iter().map(|(path, found)| (path.into(), found.clone())).collect(), ..Self::default() }
    }

    fn walk(&self, path: &str, dialect: Dialect) -> Result<PathBuf, ResolveError> {
        walk(Path::new(path), self, dialect)
    }

    fn asked(&self) -> Vec<PathBuf> {
        self.asked.borrow().clone()
    }
}

impl Look for Table {
    fn look(&self, path: &Path) -> io::Result<Found> {
        self.asked.borrow_mut().push(path.to_path_buf());
        match self.faults.get(path) {
            Some(kind) => Err((*kind).into()),
            None => Ok(self.entries.get(path).cloned().unwrap_or(Found::Missing)),
        }
    }
}

fn link(target: &str) -> Found {
    Found::Link(target.into())
}

fn ambiguous(path: &str) -> Result<PathBuf, ResolveError> {
    Err(ResolveError::Ambiguous { path: path.into() })
}

#[test]
fn a_bad_text_is_never_looked_at() {
    type Refused = fn(PathBuf) -> ResolveError;
    let rows: [(&str, Refused); 8] = [
        ("//server/share", |path| ResolveError::NetworkPath { path }),
        ("/\\server/share", |path| ResolveError::NetworkPath { path }),
        ("\\\\server\\share", |path| ResolveError::NetworkPath { path }),
        ("/??/C:/a", |path| ResolveError::NetworkPath { path }),
        ("/missing/a\0b", |path| ResolveError::Nul { path }),
        ("a/b", |path| ResolveError::NotAbsolute { path }),
        ("", |path| ResolveError::NotAbsolute { path }),
        ("/a/../b", |path| ResolveError::ParentSegment { path }),
    ];
    let files = Table::default();
    for dialect in [Dialect::Posix, Dialect::Windows] {
        for (path, error) in rows {
            assert_eq!(files.walk(path, dialect), Err(error(path.into())), "{path:?}");
        }
        let endless = "/a".repeat(MAX_PATH_BYTES);
        let too_long = ResolveError::Io { path: endless.clone().into(), kind: io::ErrorKind::InvalidFilename };
        assert_eq!(files.walk(&endless, dialect), Err(too_long));
    }
    assert_eq!(files.asked(), Vec::<PathBuf>::new());
}

#[test]
fn a_network_target_is_never_looked_at() {
    let targets =
        ["//server/share", "\\\\server\\share", "\\\\?\\UNC\\s\\h", "\\??\\C:\\a", "\\Device\\Mup\\s\\h", "/\\s/h"];
    for target in targets {
        for dialect in [Dialect::Posix, Dialect::Windows] {
            let files = Table::of(&[("/r", Found::Folder), ("/r/l", link(target))]);
            let error = ResolveError::NetworkTarget { link: "/r/l".into(), target: target.into() };
            assert_eq!(files.walk("/r/l/x", dialect), Err(error), "{target:?}");
            assert_eq!(files.asked(), [Path::new("/r"), Path::new("/r/l")], "{target:?}");
        }
    }
}

#[test]
fn each_name_is_looked_at_once_and_none_behind_a_missing_one() {
    let files = Table::of(&[("/r", Found::Folder), ("/r/l", link("new/a"))]);
    assert_eq!(files.walk("/r/l/b/c", Dialect::Posix), Ok("/r/new/a/b/c".into()));
    assert_eq!(files.asked(), [Path::new("/r"), Path::new("/r/l"), Path::new("/r/new")]);
}

#[test]
fn a_fault_is_an_error_and_not_a_missing_name() {
    // A link that goes away between the two looks at it shows as a fault of kind `NotFound`.
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::Other, io::ErrorKind::NotFound] {
        let mut files = Table::of(&[("/r", Found::Folder)]);
        files.faults.insert("/r/a".into(), kind);
        let error = ResolveError::Io { path: "/r/a".into(), kind };
        assert_eq!(files.walk("/r/a/b", Dialect::Posix), Err(error));
    }
    let files = Table::of(&[("/l", link(""))]);
    let error = ResolveError::Io { path: "/l".into(), kind: io::ErrorKind::NotFound };
    assert_eq!(files.walk("/l", Dialect::Posix), Err(error));
}

#[test]
fn links_of_proc_are_not_followed() {
    let files = Table::of(&[
        ("/repo", Found::Folder),
        ("/repo/l", link("/proc/self/cwd/x")),
        ("/repo/m", link("/proc/cpuinfo")),
        ("/proc", Found::Folder),
        ("/proc/self", link("7")),
        ("/proc/7", Found::Folder),
        ("/proc/7/cwd", link("/repo")),
        ("/proc/cpuinfo", Found::Other),
        ("/processes", Found::Folder),
        ("/processes/l", link("/repo")),
    ]);
    let refused = |link: &str| Err(ResolveError::PerProcessLink { link: link.into() });
    assert_eq!(files.walk("/repo/l", Dialect::Posix), refused("/proc/self"));
    assert_eq!(files.walk("/proc/7/cwd/x", Dialect::Posix), refused("/proc/7/cwd"));
    assert_eq!(files.walk("/repo/m", Dialect::Posix), Ok("/proc/cpuinfo".into()));
    assert_eq!(files.walk("/processes/l", Dialect::Posix), Ok("/repo".into()));
}

#[test]
fn windows_refuses_names_that_it_rewrites() {
    let files = Table::of(&[("/r", Found::Folder), ("/r/l", link("sub/nul.txt")), ("/r/m", link("a. "))]);
    assert_eq!(files.walk("/r/l", Dialect::Windows), ambiguous("/r/l"));
    assert_eq!(files.walk("/r/m", Dialect::Windows), ambiguous("/r/m"));
    assert_eq!(files.walk("/r/a:b", Dialect::Windows), ambiguous("/r/a:b"));
    assert_eq!(files.walk("/missing/x/con", Dialect::Windows), ambiguous("/missing/x/con"));
    assert_eq!(files.walk("/r/l", Dialect::Posix), Ok("/r/sub/nul.txt".into()));
    assert_eq!(files.walk("/r/m/x", Dialect::Posix), Ok("/r/a. /x".into()));
}

#[test]
fn windows_refuses_parents_that_it_may_count_otherwise() {
    let files = Table::of(&[
        ("/r", Found::Folder),
        ("/r/d", Found::Folder),
        ("/r/d/up", link("../a")),
        ("/r/d/up2", link("../../a")),
        ("/r/d/named", link("../d/../a")),
        ("/r/abs", link("/r/d")),
        ("/r/abs-up", link("/r/d/..")),
        ("/r/rel", link("d")),
    ]);
    let rows = [
        ("/r/d/up", Ok("/r/a".into()), "/r/a"),
        ("/r/d/up2", Ok("/a".into()), "/a"),
        ("/r/rel/up", Ok("/r/a".into()), "/r/a"),
        ("/r/abs", Ok("/r/d".into()), "/r/d"),
        ("/r/d/named", ambiguous("/r/d/named"), "/r/a"),
        ("/r/abs/up", ambiguous("/r/d/up"), "/r/a"),
        ("/r/abs-up", ambiguous("/r/abs-up"), "/r"),
    ];
    for (path, windows, posix) in rows {
        assert_eq!(files.walk(path, Dialect::Windows), windows, "{path}");
        assert_eq!(files.walk(path, Dialect::Posix), Ok(posix.into()), "{path}");
    }
}
