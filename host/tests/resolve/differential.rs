//! `real_path` against `std::fs::canonicalize`, in random trees with links.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use toolwarden::invoke::{ResolveError, real_path};

use crate::tree::Tree;

/// Where the random tree stands below the temporary one: so deep that a few `..` do not leave it.
const BASE: &str = "p/q/r";

#[derive(Clone, Debug)]
enum Kind {
    Folder,
    File,
    Link(String),
}

/// Few names, so that paths and targets meet.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "d"])
}

fn target() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec!["a", "b", "c", "d", "a", "b", "c", "d", "..", "..", ".", "z"]);
    let start = prop::sample::select(vec!["", "", "", "@p/q/r/", "../"]);
    let end = prop::sample::select(vec!["", "", "", "", "/", "/."]);
    (start, prop::collection::vec(segment, 1..4), end)
        .prop_map(|(start, middle, end)| start.to_owned() + &middle.join("/") + end)
}

/// Places and what to put there, the shallow ones first; what does not fit is left out.
fn plan() -> impl Strategy<Value = Vec<(String, Kind)>> {
    let place = prop_oneof![3 => prop::collection::vec(name(), 1), 4 => prop::collection::vec(name(), 2..4)];
    let kind = prop_oneof![3 => Just(Kind::Folder), 1 => Just(Kind::File), 4 => target().prop_map(Kind::Link)];
    prop::collection::vec((place, kind), 4..24).prop_map(|mut plan| {
        plan.sort_by_key(|(place, _)| place.len());
        plan.into_iter().map(|(place, kind)| (place.join("/"), kind)).collect()
    })
}

/// One of the planned places, and how to go on from there.
fn asked() -> impl Strategy<Value = (prop::sample::Index, String)> {
    let segment = prop::sample::select(vec!["a", "b", "c", "d", ".", "z"]);
    let end = prop::sample::select(vec!["", "", "", "/", "/.", "//"]);
    let more = (prop::collection::vec(segment, 0..4), end).prop_map(|(names, end)| {
        let names = names.iter().flat_map(|name| ["/", name]).collect::<String>();
        names + end
    });
    (any::<prop::sample::Index>(), more)
}

fn path(tree: &Tree, plan: &[(String, Kind)], (place, more): &(prop::sample::Index, String)) -> PathBuf {
    tree.at(&format!("{BASE}/{}{more}", place.get(plan).0))
}

fn build(plan: &[(String, Kind)]) -> Tree {
    let tree = Tree::new();
    tree.folder(BASE);
    for (place, kind) in plan {
        let path = tree.at(&format!("{BASE}/{place}"));
        // Through links too; but nothing is ever made outside of the temporary tree.
        let within = path.parent().and_then(|p| fs::canonicalize(p).ok()).is_some_and(|p| p.starts_with(tree.at("")));
        if within && fs::symlink_metadata(&path).is_err() {
            let _ = match kind {
                Kind::Folder => fs::create_dir(&path),
                Kind::File => fs::write(&path, ""),
                Kind::Link(target) => symlink(tree.target(target), &path),
            };
        }
    }
    tree
}

/// What `canonicalize` says, in the words of `real_path`.
fn agrees(asked: &Path, tree: &Tree) -> Result<(), TestCaseError> {
    let ours = real_path(asked);
    match fs::canonicalize(asked) {
        Ok(theirs) => {
            prop_assert_eq!(&ours, &Ok(theirs.clone()));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => match &ours {
            Ok(real) => {
                prop_assert!(fs::symlink_metadata(real).is_err(), "{real:?} exists");
                // Its path is now, once it is there, what was said before.
                if real.starts_with(tree.at("")) {
                    let new = real.ancestors().take_while(|path| fs::symlink_metadata(path).is_err()).last();
                    fs::create_dir_all(real).expect("only plain names are missing");
                    prop_assert_eq!(&fs::canonicalize(asked).expect("now it is there"), real);
                    fs::remove_dir_all(new.expect("the path itself was missing")).expect("just made");
                }
            }
            Err(error) => prop_assert_eq!(error.code(), "parent-of-missing"),
        },
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            prop_assert_eq!(ours.as_ref().map_err(ResolveError::code), Err("not-a-folder"));
        }
        // `FilesystemLoop`, which has no stable name.
        Err(error) => {
            prop_assert_eq!(format!("{:?}", error.kind()), "FilesystemLoop");
            prop_assert_eq!(ours.as_ref().map_err(ResolveError::code), Err("too-many-links"));
        }
    }
    // A real path is its own real path.
    if let Ok(real) = ours {
        prop_assert_eq!(&real_path(&real), &Ok(real.clone()));
    }
    Ok(())
}

/// A quarter of the usual cases, which `PROPTEST_CASES` sets: each one builds a tree on a disk that may be slow.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.div_ceil(4), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn same_as_canonicalize(plan in plan(), asked in prop::collection::vec(asked(), 1..16)) {
        let tree = build(&plan);
        for asked in asked {
            agrees(&path(&tree, &plan, &asked), &tree)?;
        }
    }

    #[test]
    fn a_new_name_ends_its_real_folder(plan in plan(), asked in asked(), new in "[e-y]{1,8}(/[e-z]{1,3})?") {
        let tree = build(&plan);
        let folder = path(&tree, &plan, &asked);
        if let Ok(real) = fs::canonicalize(&folder) && real.is_dir() {
            prop_assert_eq!(real_path(&folder.join(&new)), Ok(real.join(&new)));
        }
    }
}
