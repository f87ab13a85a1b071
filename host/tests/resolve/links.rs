//! Links of every kind, one by one.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolwarden::invoke::{MAX_LINKS, ResolveError, real_path};

use crate::tree::Tree;

/// The workspace `in`, the outside `out`, and links of every kind between them.
fn workspace() -> Tree {
    let tree = Tree::new();
    for folder in ["in/a/b", "out/deep/er"] {
        tree.folder(folder);
    }
    tree.file("in/file");
    tree.file("out/secret");
    tree
}

/// A link's place and target, the path asked for, and its real path; all below the tree's root. A target that starts
/// with `@` is absolute, from that root on.
const RESOLVED: &[(&str, &str, &str, &str)] = &[
    // Nothing in the way.
    ("in/unused", "a", "in/a/b", "in/a/b"),
    ("in/unused", "a", "in/new", "in/new"),
    ("in/unused", "a", "in/new/and/deeper.txt", "in/new/and/deeper.txt"),
    ("in/unused", "a", "in/./a//b/.", "in/a/b"),
    // To the inside and to the outside, at the end and in the middle.
    ("in/l", "a/b", "in/l", "in/a/b"),
    ("in/l", "a/b", "in/l/new", "in/a/b/new"),
    ("in/l", "../out", "in/l/secret", "out/secret"),
    ("in/l", "@out", "in/l/secret", "out/secret"),
    ("in/l", "@out", "in/l/new/file", "out/new/file"),
    ("in/l", "../out/secret", "in/l", "out/secret"),
    ("in/a/l", "b", "in/a/l/new", "in/a/b/new"),
    ("in/l", ".", "in/l/l/l/a", "in/a"),
    ("in/l", "a/", "in/l", "in/a"),
    // To nothing, inside and outside.
    ("in/l", "new", "in/l", "in/new"),
    ("in/l", "new/er", "in/l/x", "in/new/er/x"),
    ("in/l", "new/", "in/l/x", "in/new/x"),
    ("in/l", "../out/new", "in/l", "out/new"),
    ("in/l", "@out/new", "in/l/x/y", "out/new/x/y"),
    ("in/a/l", "../../out/new", "in/a/l", "out/new"),
    ("in/l", "../nowhere/new", "in/l", "nowhere/new"),
    // `..` behind a folder that was reached through nothing but names.
    ("in/l", "a/..", "in/l/file", "in/file"),
    ("in/l", "a/b/../../..", "in/l/out/secret", "out/secret"),
    // The root itself is a link.
    ("root", "in", "root/a/new", "in/a/new"),
    ("root", "@in", "root", "in"),
];

#[test]
fn a_path_leads_where_its_links_lead() {
    for (place, target, asked, real) in RESOLVED {
        let tree = workspace();
        tree.link(place, target);
        assert_eq!(real_path(&tree.at(asked)), Ok(tree.at(real)), "{place} -> {target}, {asked}");
    }
}

#[test]
fn a_parent_leaves_the_folder_really_reached() {
    let tree = workspace();
    // By its text, `far/..` would be `in`; really it is `out/deep`.
    tree.link("in/far", "../out/deep/er");
    tree.link("in/back", "far/../new");
    assert_eq!(real_path(&tree.at("in/back")), Ok(tree.at("out/deep/new")));
    tree.link("in/a/back", "../back/x");
    assert_eq!(real_path(&tree.at("in/a/back")), Ok(tree.at("out/deep/new/x")));
    // Above the root there is only the root.
    tree.link("in/top", &format!("{}nowhere-at-all/x", "../".repeat(60)));
    assert_eq!(real_path(&tree.at("in/top")), Ok("/nowhere-at-all/x".into()));
}

#[test]
fn a_parent_behind_nothing_is_not_known() {
    let tree = workspace();
    tree.link("in/l", "new/../file");
    assert_eq!(real_path(&tree.at("in/l")), Err(ResolveError::ParentOfMissing { path: tree.at("in/new") }));
    // Also where one link leads to nothing and another one goes on behind it.
    tree.link("in/gone", "../out/gone");
    tree.link("in/m", "gone/../secret");
    let error = ResolveError::ParentOfMissing { path: tree.at("out/gone") };
    assert_eq!(real_path(&tree.at("in/m")), Err(error));
}

#[test]
fn nothing_is_below_a_file() {
    let tree = workspace();
    tree.link("in/to-file", "file");
    tree.link("in/behind", "file/../a");
    tree.link("in/slash", "file/");
    let error = Err(ResolveError::NotAFolder { path: tree.at("in/file") });
    for asked in
        ["in/file/x", "in/file/x/y", "in/file/", "in/file/.", "in/to-file/x", "in/to-file/", "in/behind", "in/slash"]
    {
        assert_eq!(real_path(&tree.at(asked)), error, "{asked}");
        assert_eq!(fs::canonicalize(tree.at(asked)).map_err(|e| e.kind()), Err(ErrorKind::NotADirectory), "{asked}");
    }
    assert_eq!(real_path(&tree.at("in/to-file")), Ok(tree.at("in/file")));
}

#[test]
fn a_chain_may_have_forty_links() {
    let tree = workspace();
    tree.link("in/l1", "@out/new");
    for n in 2..=MAX_LINKS + 1 {
        tree.link(&format!("in/l{n}"), &format!("l{}", n - 1));
    }
    assert_eq!(real_path(&tree.at("in/l40")), Ok(tree.at("out/new")));
    assert_eq!(real_path(&tree.at("in/l41")), Err(ResolveError::TooManyLinks { link: tree.at("in/l1") }));
    #[cfg(target_os = "linux")]
    {
        tree.folder("out/new");
        assert_eq!(fs::canonicalize(tree.at("in/l40")).ok(), Some(tree.at("out/new")));
        assert!(fs::canonicalize(tree.at("in/l41")).is_err());
    }
}

#[test]
fn a_loop_ends() {
    let tree = workspace();
    tree.link("in/self", "self");
    tree.link("in/ping", "pong");
    tree.link("in/pong", "@in/ping");
    tree.link("in/grows", "grows/x");
    for asked in ["in/self", "in/self/x", "in/ping", "in/pong/new", "in/grows"] {
        assert!(matches!(real_path(&tree.at(asked)), Err(ResolveError::TooManyLinks { .. })), "{asked}");
    }
}

#[test]
fn a_target_of_network_form_is_not_followed() {
    let tree = workspace();
    tree.link("in/net", "//server/share");
    let error = ResolveError::NetworkTarget { link: tree.at("in/net"), target: "//server/share".into() };
    assert_eq!(real_path(&tree.at("in/net/x")), Err(error));
}

#[test]
fn a_folder_that_may_not_be_searched_is_an_error() {
    let tree = workspace();
    tree.link("in/l", "a/b");
    let closed = tree.at("in/a");
    let set = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("own folder");
    set(0o000);
    let may_search = fs::symlink_metadata(closed.join("b")).is_ok();
    let denied = Err(ResolveError::Io { path: closed.join("b"), kind: ErrorKind::PermissionDenied });
    let new = Err(ResolveError::Io { path: closed.join("new"), kind: ErrorKind::PermissionDenied });
    let answers =
        [real_path(&closed), real_path(&closed.join("b")), real_path(&tree.at("in/l")), real_path(&closed.join("new"))];
    set(0o755);
    if may_search {
        eprintln!("skipped: this user may search every folder");
        return;
    }
    assert_eq!(answers, [Ok(closed), denied.clone(), denied, new]);
}

#[test]
fn a_name_too_long_is_an_error() {
    let tree = workspace();
    let long = tree.at("in").join("n".repeat(300));
    assert_eq!(real_path(&long), Err(ResolveError::Io { path: long, kind: ErrorKind::InvalidFilename }));
}

#[test]
fn names_need_not_be_text() {
    let tree = workspace();
    let name = Path::new(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    tree.link("in/l", "../out");
    assert_eq!(real_path(&tree.at("in/l").join(name)), Ok(tree.at("out").join(name)));
    if std::os::unix::fs::symlink(name, tree.at("in/odd")).is_ok() {
        assert_eq!(real_path(&tree.at("in/odd")), Ok(tree.at("in").join(name)));
    }
}

#[test]
fn the_root_is_itself() {
    assert_eq!(real_path(Path::new("/")), Ok(PathBuf::from("/")));
    assert_eq!(real_path(Path::new("/.")), Ok(PathBuf::from("/")));
}

#[cfg(target_os = "linux")]
#[test]
fn the_links_of_a_process_are_its_own() {
    let tree = workspace();
    tree.link("in/l", "/proc/self/cwd");
    let error = ResolveError::PerProcessLink { link: "/proc/self".into() };
    assert_eq!(real_path(&tree.at("in/l/x")), Err(error));
}
