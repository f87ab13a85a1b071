//! Whether a path lies below a root: by whole segments, without any folding but of ASCII letters on Windows.

use super::reading::{Reading, is_drive};
use crate::model::Flavour;

/// Whether a root can be one. On Windows a network share can.
pub(super) fn is_absolute(root: &str, flavour: Flavour) -> bool {
    starts_absolute(plain(root, flavour), flavour)
}

/// Whether a real path is `deeper` or more segments below a root (0: or equal to it).
pub(super) fn is_below(path: &str, root: &str, flavour: Flavour, deeper: usize) -> bool {
    let path = plain(path, flavour);
    !path.segments().any(|s| s == "..") && reading_is_below(path, root, flavour, deeper)
}

/// The same for a reading without `..`.
pub(super) fn reading_is_below(path: Reading, root: &str, flavour: Flavour, deeper: usize) -> bool {
    let root = plain(root, flavour);
    if !starts_absolute(path, flavour) || !starts_absolute(root, flavour) {
        return false;
    }
    if flavour == Flavour::Windows && (path.leading_separators() == 2) != (root.leading_separators() == 2) {
        return false;
    }
    let mut path = names(path);
    let same = |a: &str, b: &str| match flavour {
        Flavour::Posix => a == b,
        Flavour::Windows => a.eq_ignore_ascii_case(b),
    };
    names(root).all(|name| path.next().is_some_and(|p| same(p, name)))
        && (deeper == 0 || path.nth(deeper - 1).is_some())
}

/// A path as the flavour itself reads it.
fn plain(path: &str, flavour: Flavour) -> Reading<'_> {
    Reading { text: path, backslash: flavour == Flavour::Windows }
}

/// The segments that name something.
fn names(path: Reading<'_>) -> impl Iterator<Item = &str> {
    path.segments().filter(|s| !matches!(*s, "" | "."))
}

fn starts_absolute(path: Reading, flavour: Flavour) -> bool {
    match flavour {
        Flavour::Posix => path.leading_separators() > 0,
        Flavour::Windows => {
            path.leading_separators() == 2 || (is_drive(path.text) && path.skip(2).leading_separators() > 0)
        }
    }
}
